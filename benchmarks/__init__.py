"""Figures about the running product: each module measures one promise and says whether it holds."""
