import { all, type Driver } from './driver.ts';
import { numberOf, textOf } from './sqlite/row.ts';
import { toSqliteNames } from './tables.ts';

/** What can be watched, with the tables whose rows it means, and the columns whose updates count. */
const watched = {
  pendings: { pendings: ['decided_at'], consents: [] },
  runs: { runs: ['status'] },
  suites: { result_runs: ['status'], ratings: ['text'] },
} as const satisfies Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

export type WatchKind = keyof typeof watched;
export const watchKinds = Object.keys(watched) as readonly WatchKind[];

export interface StoreWatch {
  /** Whether changes are reported; otherwise the caller must poll. */
  isLive(): boolean;
  /** Resolves once changes are reported, or cannot be; absent: at once. Never rejects. */
  readonly ready?: Promise<void>;
  close(): void;
}

/** Reports changes of any process. */
export interface ChangeSource {
  readonly kinds: readonly WatchKind[];
  /** Calls `tell` after a change, or when one may have been missed; `kind` is undefined if it may be any. Never throws. */
  watch(tell: (kind?: WatchKind) => void): StoreWatch;
  /** For each kind a number that differs after a change; absent if `watch` names the kind. Rejects with STORE_FAILED. */
  readonly count?: () => Promise<ReadonlyMap<string, number>>;
}

/** The changes in a file, whose watch reports writes of any kind. */
export function countedChanges(
  kinds: readonly WatchKind[],
  { read }: Pick<Driver, 'read'>,
  watch: (tell: () => void) => StoreWatch,
): ChangeSource {
  const counted = function* () {
    const rows = yield* all('SELECT kind, number FROM changes');
    return new Map(rows.map((row) => [textOf(row, 'kind'), numberOf(row, 'number')]));
  };
  return { kinds, watch: (tell) => watch(() => tell()), count: () => read(counted) };
}

/** The counters of a SQLite file. */
export function counterTables(kinds: readonly WatchKind[]): string {
  const triggers = kinds.flatMap((kind) =>
    writesOf(kind).map(({ name, event, table }) => {
      const own = toSqliteNames(`signalbox.${table}`);
      return `CREATE TRIGGER ${name} AFTER ${event} ON ${own} BEGIN
  UPDATE changes SET number = number + 1 WHERE kind = '${kind}';
END;`;
    }),
  );
  return `
CREATE TABLE changes (kind TEXT PRIMARY KEY, number INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO changes VALUES ${kinds.map((kind) => `('${kind}', 0)`).join(', ')};
${triggers.join('\n')}
`;
}

export const CHANGES_CHANNEL = 'signalbox_changes';

/**
 * Notifications of Postgres, sent only while a session watches: commits that notify take place one after the other, in
 * the whole server.
 */
export const notifyTables = `
CREATE TABLE signalbox.watches (
  pid integer NOT NULL,
  backend_start timestamptz NOT NULL,
  PRIMARY KEY (pid, backend_start)
);
CREATE FUNCTION signalbox.tell_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM signalbox.watches) THEN PERFORM pg_notify('${CHANGES_CHANNEL}', TG_ARGV[0]); END IF;
  RETURN NULL;
END $$;
${watchKinds
  .flatMap((kind) =>
    writesOf(kind).map(
      ({ name, event, table }) => `CREATE TRIGGER ${name} AFTER ${event} ON signalbox.${table}
  FOR EACH ROW EXECUTE FUNCTION signalbox.tell_change('${kind}');`,
    ),
  )
  .join('\n')}
`;

function writesOf(kind: WatchKind) {
  return Object.entries(watched[kind]).flatMap(([table, columns]) => {
    const updates = columns.length === 0 ? [] : [`UPDATE OF ${columns.join(', ')}`];
    return ['INSERT', ...updates, 'DELETE'].map((event) => ({
      ...{ table, event },
      name: `${table}_tell_${event.slice(0, 6).toLowerCase()}`,
    }));
  });
}
