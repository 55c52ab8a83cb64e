"""The nouns: frozen, validated where they are built, serialisable.

``schema`` describes a census, ``spec`` says what a table shows, ``cube`` holds true counts,
``published`` what anybody may see, ``perturbation`` noise, ``policy`` and ``plan`` what an office
decided, ``inference`` what an intruder may conclude. Flat here are small things that everything
uses: texts, secrets, progress. No noun reads files or computes protection.
"""
