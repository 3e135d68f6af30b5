BEGIN TRANSACTION;
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
INSERT INTO "events" VALUES(1,'01KQ5G3M8A0000000000000001','2026-11-02T09:30:00.000000Z','tool_call','tool','filesystem','1.2.0','1',X'0A110A0474635F311209656469745F66696C65',X'ECF0D053CF45BD7F9BA002315D16F5BF3862F4E0E58B9ADD0AFC3950CC37E451');
INSERT INTO "events" VALUES(2,'01KQ5G3M8A0000000000000002','2026-11-02T09:30:00.001000Z','tool_result','tool','filesystem','1.2.0','1',X'0A0474635F311200',X'E9E2E10F56CAF1D21442FFE5F79B9F664257D1D0C3AF2E8EC4048D8D6E9E99AD');
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
		first_seen_sequence INTEGER NOT NULL,
		PRIMARY KEY (category, name, version)
	) WITHOUT ROWID;
INSERT INTO "producers" VALUES('tool','filesystem','1.2.0',1);
CREATE TABLE session_meta (
		session_id TEXT PRIMARY KEY,
		parent_session_id TEXT NOT NULL,
		profile TEXT NOT NULL,
		status TEXT NOT NULL,
		depth INTEGER NOT NULL,
		started_at TEXT NOT NULL,
		ended_at TEXT NOT NULL
	);
INSERT INTO "session_meta" VALUES('01KQ5G3M7Z0000000000000001','','','completed',0,'2026-11-02T09:30:00.000000Z','2026-11-02T09:30:01.000000Z');
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('events',2);
COMMIT;
PRAGMA user_version = 1;
