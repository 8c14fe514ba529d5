"""The accounts of many decisions: facts written when a decision rests, a window and a slice in, figures out."""
