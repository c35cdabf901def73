CREATE TRIGGER audit_events_no_update BEFORE UPDATE ON audit_events
WHEN NOT (NEW.id = OLD.id AND NEW.at = OLD.at AND NEW.event = OLD.event AND NEW.subject = OLD.subject
    AND NEW.actor IN (OLD.actor, '') AND NEW.detail = '{}')
BEGIN SELECT RAISE(ABORT, 'audit_events is append-only'); END;

CREATE TRIGGER audit_events_no_delete BEFORE DELETE ON audit_events
WHEN OLD.at > CAST(strftime('%s', 'now') AS INTEGER) * 1000 - 2592000000
    OR OLD.event IN ('user.erased', 'agent.erased')
BEGIN SELECT RAISE(ABORT, 'audit_events is append-only'); END;

CREATE TRIGGER tool_changes_no_update BEFORE UPDATE ON tool_changes
BEGIN SELECT RAISE(ABORT, 'tool_changes is append-only'); END;

CREATE TRIGGER tool_changes_no_delete BEFORE DELETE ON tool_changes
BEGIN SELECT RAISE(ABORT, 'tool_changes is append-only'); END;
