"""Turkish and English text as it is written: letters, dates, numbers, identities and terms, all with their places."""
