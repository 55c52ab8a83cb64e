"""What stands between the network and the routes, as plain ASGI.

Connections, sizes of bodies, headers, metrics. Who asks is found out in ``web/identity.py``.
"""
