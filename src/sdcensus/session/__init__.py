"""The only place that joins engines, methods, microdata, risk and utility."""
