"""The look budget: how well all tables together show one cell.

Best linear estimates over menus, plans, levels and tied units, and what noise withstands them.
``session/looks`` asks for a policy or a plan.
"""
