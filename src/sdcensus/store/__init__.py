"""Reading and writing what lies on the office's own disk: census stores and secrets."""
