"""From a plan to published files: resolving, counting, writing, approving."""
