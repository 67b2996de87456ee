-- A session keeps the plan of this function. Made while a fresh table looked empty, it read all of usage_periods for each of a fold's rows until the first ANALYZE.
ALTER FUNCTION note_late_usage() SET enable_seqscan = off;
