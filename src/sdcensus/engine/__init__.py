"""The door to microdata: requests and the engines that answer them, all with the same integers."""
