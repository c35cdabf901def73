CREATE FUNCTION audit_events_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF NEW.id = OLD.id AND NEW.at = OLD.at AND NEW.event = OLD.event AND NEW.subject = OLD.subject
            AND NEW.actor IN (OLD.actor, '') AND NEW.detail = '{}' THEN RETURN NEW; END IF;
    ELSIF OLD.at <= CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint) - 2592000000
        AND OLD.event NOT IN ('user.erased', 'agent.erased') THEN RETURN OLD;
    END IF;
    RAISE EXCEPTION 'audit_events is append-only';
END $$;

CREATE TRIGGER audit_events_append_only BEFORE UPDATE OR DELETE ON audit_events
FOR EACH ROW EXECUTE FUNCTION audit_events_refuse();

CREATE FUNCTION tool_changes_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE EXCEPTION 'tool_changes is append-only';
END $$;

CREATE TRIGGER tool_changes_append_only BEFORE UPDATE OR DELETE ON tool_changes
FOR EACH ROW EXECUTE FUNCTION tool_changes_refuse();
