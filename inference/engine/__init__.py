"""The engine child: the only room that imports SGLang, torch or transformers."""
