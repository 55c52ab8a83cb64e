"""Writers of public types and readers of the exchange files of other tools."""
