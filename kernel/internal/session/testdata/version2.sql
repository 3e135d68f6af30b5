BEGIN TRANSACTION;
CREATE TABLE events (
		sequence INTEGER PRIMARY KEY AUTOINCREMENT,
		id TEXT NOT NULL,
		timestamp TEXT NOT NULL,
		kind TEXT NOT NULL,
		producer_category TEXT NOT NULL,
		producer_name TEXT NOT NULL,
		producer_version TEXT NOT NULL,
		schema_version TEXT NOT NULL,
		payload BLOB NOT NULL,
		hash BLOB NOT NULL
	);
INSERT INTO events VALUES(1,'01M8QGZRY0BBTA703A1W59SGQX','2026-12-01T00:45:00.224518Z','tool_call','tool','filesystem','1.2.0','1',X'0a110a0474635f311209656469745f66696c65',X'41f73616d5b009b9f6ed6615a894de7ef2204f4b1898b896375cdf3e4ad5f24c');
INSERT INTO events VALUES(2,'01M8QGZRYH6GPWWHNHRBXRQ8BE','2026-12-01T00:45:00.241454Z','tool_result','tool','filesystem','1.2.0','1',X'0a0474635f311200',X'a9c25022b4b21f416b63fc36972a8e660bfb37d38830b98b1cf48dd8afefa6f2');
CREATE TABLE session_meta (
		session_id TEXT PRIMARY KEY,
		parent_session_id TEXT NOT NULL,
		profile TEXT NOT NULL,
		status TEXT NOT NULL,
		depth INTEGER NOT NULL,
		started_at TEXT NOT NULL,
		ended_at TEXT NOT NULL
	, command TEXT NOT NULL DEFAULT '', project TEXT NOT NULL DEFAULT '', head_sequence INTEGER NOT NULL DEFAULT 0, head_hash BLOB NOT NULL DEFAULT x'');
INSERT INTO session_meta VALUES('01KQ5G3M7Z0000000000000002','','','completed',0,'2026-11-29T09:30:00.000000Z','2026-12-01T00:45:00.241529Z','run notes.txt','/home/ada/notes',2,X'a9c25022b4b21f416b63fc36972a8e660bfb37d38830b98b1cf48dd8afefa6f2');
CREATE TABLE cost_ledger (
		event_sequence INTEGER NOT NULL,
		provider_name TEXT NOT NULL,
		model_id TEXT NOT NULL,
		input_tokens INTEGER NOT NULL,
		output_tokens INTEGER NOT NULL,
		cache_read_tokens INTEGER NOT NULL,
		cache_write_tokens INTEGER NOT NULL,
		cost_usd REAL NOT NULL
	);
CREATE TABLE plan_items (
		event_sequence INTEGER NOT NULL,
		turn_id TEXT NOT NULL,
		tool_call_id TEXT NOT NULL,
		provider_name TEXT NOT NULL,
		tool_name TEXT NOT NULL,
		decision TEXT NOT NULL,
		decided_by TEXT NOT NULL
	);
CREATE TABLE producers (
		category TEXT NOT NULL,
		name TEXT NOT NULL,
		version TEXT NOT NULL,
		first_seen_sequence INTEGER NOT NULL, source TEXT NOT NULL DEFAULT '',
		PRIMARY KEY (category, name, version)
	) WITHOUT ROWID;
INSERT INTO producers VALUES('tool','filesystem','1.2.0',1,'github.com/agentco/agent');
CREATE TABLE output (
		call_id TEXT NOT NULL,
		timestamp TEXT NOT NULL,
		stream TEXT NOT NULL,
		data BLOB NOT NULL,
		skipped INTEGER NOT NULL
	);
INSERT INTO output VALUES('tc_1','2026-12-01T00:45:00.241375Z','stdout',X'68656c6c6f0a',0);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('events',2);
CREATE INDEX output_of_call ON output (call_id);
COMMIT;
PRAGMA user_version = 2;
