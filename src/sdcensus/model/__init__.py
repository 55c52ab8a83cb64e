"""The nouns: frozen, validated where they are built, serialisable."""
