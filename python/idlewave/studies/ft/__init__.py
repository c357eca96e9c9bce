"""The study of NAS FT: which exchange hides its communication, and what the others lose."""
