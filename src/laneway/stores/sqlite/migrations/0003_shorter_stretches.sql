-- A stretch has 1024 intents instead of 8192. The hashes of a group commit fell on some seventy
-- pages of a long one, and all of those were written and checkpointed with it; a short one has ten.

UPDATE OR REPLACE pointers SET stretch = no / 1024;
