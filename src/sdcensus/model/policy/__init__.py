"""What may be asked, by whom.

Policies, their rules and what is wrong with them, and menus: the finite set of tables that a policy
opens. Deciding by a policy is in ``session/policy``.
"""
