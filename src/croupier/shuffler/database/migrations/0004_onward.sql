-- The second shuffler's signed part in a round, which clients seal to as well; null if there is one
-- shuffler.
ALTER TABLE croupier.batches ADD COLUMN onward text;
