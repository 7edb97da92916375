-- What room a worker has for which kinds: its slots by isolation, as JSON. A report of an older program has none.
alter table detent_workers add column lanes text;
