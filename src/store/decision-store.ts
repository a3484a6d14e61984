import { createHash, randomUUID } from 'node:crypto';
import { all, type Driver, each, get, type Work } from './driver.ts';
import { encodeText, enumOf, numberOf, numberOrNull, type Row, textOf, textOrNull } from './sqlite/row.ts';

/**
 * What hooks decided, and the messages of model calls. In a file, a resolved change may be lost with the power, but not
 * with this process. All methods reject with STORE_FAILED, and then nothing is half written.
 */
export interface DecisionStore {
  readonly location: string;
  add(decisions: readonly (NewDecision | NewGap)[]): Promise<void>;
  addCalls(calls: readonly NewModelCall[]): Promise<void>;
  /** Newest first, in the order of writing, with all gaps in between; times do not change the order. */
  page(filter: DecisionFilter & Page): Promise<KeptDecision[]>;
  /** With `everyMs`, for each such part of the time since 1970, oldest first. */
  count(filter: DecisionFilter & { readonly everyMs?: number | undefined }): Promise<DecisionCount[]>;
  /** How many were dropped in that time, by any process. */
  countDropped(what: NewGap['what'], time?: Pick<DecisionFilter, 'since' | 'until'>): Promise<number>;
  /** Oldest first. */
  pageCalls(filter: CallFilter & Page): Promise<KeptModelCall[]>;
  readMessages(ids: readonly number[]): Promise<ReadonlyMap<number, string>>;
  hasOlder(age: Age): Promise<boolean>;
  /**
   * Removes up to a batch of what is older, but nothing of these runs, and then the messages that no call has any more.
   * Returns whether there may be more.
   */
  prune(age: Age, keptRuns: readonly string[]): Promise<boolean>;
  /** Never rejects. */
  close(): Promise<void>;
}

/** Where a hook ran or a model was called. */
interface Origin {
  readonly operation: string;
  readonly operationId: string | null;
  readonly run: string | null;
  readonly step: string | null;
  readonly at: number;
}

export interface NewDecision extends Origin {
  readonly hook: string;
  readonly dialect: string;
  readonly kind: string;
  readonly phase: string;
  readonly mode: string;
  readonly verdict: string;
  readonly event: string;
  readonly reason: string;
  readonly error: string | null;
  readonly durationMs: number;
}

/** So many decisions or model calls are missing here. */
export interface NewGap {
  readonly what: 'decisions' | 'model_calls';
  readonly dropped: number;
  readonly at: number;
}

export type KeptDecision = (NewDecision | NewGap) & { readonly place: number };

export interface DecisionFilter {
  readonly hook?: string | undefined;
  readonly verdict?: string | undefined;
  readonly mode?: string | undefined;
  readonly operation?: string | undefined;
  readonly run?: string | undefined;
  /** Only the index by time helps to find it. */
  readonly event?: string | undefined;
  /** Milliseconds since 1970; `until` is exclusive. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/** Milliseconds before `now` (ms since 1970); a database server has its own clock. */
interface Age {
  readonly now: number;
  readonly keep: number;
}

interface Page {
  readonly after?: number | undefined;
  readonly limit: number;
}

export interface DecisionCount extends Pick<NewDecision, 'hook' | 'mode' | 'verdict'> {
  /** The begin of the part of time, if one was asked for. */
  readonly at?: number;
  readonly count: number;
}

export interface NewModelCall extends Origin {
  /** A call that is added again is stored once. */
  readonly id: string;
  readonly provider: string;
  readonly model: string;
  /** JSON texts, the answers last. */
  readonly messages: readonly string[];
  readonly answers: number;
}

export interface KeptModelCall extends Omit<NewModelCall, 'messages'> {
  readonly place: number;
  readonly messages: readonly number[];
}

export interface CallFilter {
  readonly operationId?: string | undefined;
  readonly run?: string | undefined;
  /** Calls of this step of the run, or of the step in which it is, and those without a step. */
  readonly step?: string | undefined;
}

export function decisionMethods(driver: Driver): Omit<DecisionStore, 'location' | 'close'> {
  const { isShared } = driver;
  const groups = new Map<string, number>();
  return {
    add: async (decisions) => {
      const token = randomUUID();
      const known = new Map(groups);
      await driver.transact(function* () {
        // This call stored them, and its answer was lost with the connection.
        if (isShared && (yield* get(ownBatch, { token })) !== undefined) return;
        for (const decision of decisions) {
          const key = groupKey(decision);
          if (!known.has(key)) known.set(key, yield* groupId(decision));
        }
        const rows = decisions.map((decision) => toRow(decision, known.get(groupKey(decision)) ?? 0));
        yield* all(insertDecisions(isShared), { rows: toParameter(rows), ...(isShared && { token }) });
      });
      for (const [key, id] of known) groups.set(key, id);
    },
    addCalls: (calls) =>
      driver.transact(function* () {
        for (const call of calls) yield* addCall(call, isShared);
      }),
    page: ({ after = Number.MAX_SAFE_INTEGER, limit, ...filter }) =>
      driver.read(function* () {
        const values = { after, limit };
        const time = timeOf(filter);
        const found = isAny(filter)
          ? yield* all(newest, values)
          : [
              ...(yield* all(
                filter.event === undefined ? newestOf(filter, isShared) : newestOfEvent(filter, isShared),
                {
                  ...values,
                  ...time,
                  ...givenOf(filter, [...grouped, 'run', 'event']),
                },
              )),
              ...(yield* all(newestGaps, { ...values, ...time })),
            ];
        const places = found.map((row) => numberOf(row, 'seq')).toSorted((one, other) => other - one);
        return yield* each(all(decisionsAt, { places: places.slice(0, limit) }), decisionFromRow);
      }),
    count: ({ everyMs, ...filter }) => {
      const every = everyMs === undefined ? {} : { every: everyMs };
      const values = { ...timeOf(filter), ...every, ...givenOf(filter, [...grouped, 'run', 'event']) };
      return driver.read(() => each(all(countsOf(filter, everyMs), values), countFromRow));
    },
    countDropped: async (what, time = {}) => {
      const row = await driver.read(() => get(countGaps, { what, ...timeOf(time) }));
      return numberOrNull(row ?? { dropped: null }, 'dropped') ?? 0;
    },
    pageCalls: ({ after = 0, limit, ...filter }) =>
      driver.read(function* () {
        const values = { after, limit, ...givenOf(filter, ['operationId', 'run', 'step']) };
        const rows = yield* all(callsOf(filter), values);
        const calls = rows.map((row) => numberOf(row, 'seq'));
        const messages = Map.groupBy(yield* all(messagesOf, { calls }), (row) => numberOf(row, 'call'));
        return rows.map((row) => callFromRow(row, messages.get(numberOf(row, 'seq')) ?? []));
      }),
    readMessages: (ids) =>
      driver.read(function* () {
        const sql = 'SELECT id, text FROM signalbox.messages WHERE id IN :ids';
        return new Map((yield* all(sql, { ids })).map((row) => [numberOf(row, 'id'), textOf(row, 'text')]));
      }),
    hasOlder: async (age) => (await driver.read(() => get(anyOlder, { ...age }))) !== undefined,
    prune: (age, runs) =>
      driver.transact(function* () {
        const decisions = yield* all(removeDecisions, { ...age, runs, limit: MOST_DECISIONS });
        const old = yield* all(oldCalls, { ...age, runs, limit: MOST_CALLS });
        const calls = old.map((row) => numberOf(row, 'seq'));
        const used = calls.length === 0 ? [] : yield* all(messagesIn, { calls });
        if (calls.length > 0) yield* all('DELETE FROM signalbox.model_calls WHERE seq IN :calls', { calls });
        const ids = used.map((row) => numberOf(row, 'message'));
        if (ids.length > 0) yield* all(removeUnused, { ids });
        return decisions.length === MOST_DECISIONS || calls.length === MOST_CALLS;
      }),
  };
}

const MOST_DECISIONS = 500;
/** Fewer, since their messages may be long. */
const MOST_CALLS = 50;

const groupColumns = ['hook', 'dialect', 'kind', 'phase', 'mode', 'verdict', 'operation'] as const;

/** The groups of gaps have no hook. */
function groupOf(decision: NewDecision | NewGap): string[] {
  const group: Partial<NewDecision> = 'what' in decision ? { kind: decision.what } : decision;
  return groupColumns.map((column) => group[column] ?? '');
}

function groupKey(decision: NewDecision | NewGap): string {
  return JSON.stringify(groupOf(decision));
}

function* groupId(decision: NewDecision | NewGap): Work<number> {
  const group = groupOf(decision);
  const values = Object.fromEntries(groupColumns.map((column, index) => [column, group[index] ?? '']));
  yield* all(insertGroup, values);
  return numberOf((yield* get(findGroup, values)) ?? {}, 'id');
}

const parameters = groupColumns.map((column) => `:${column}`).join(', ');
const insertGroup = `INSERT INTO signalbox.decision_groups (${groupColumns.join(', ')}) VALUES (${parameters})
  ON CONFLICT DO NOTHING`;
const findGroup = `SELECT id FROM signalbox.decision_groups
  WHERE ${groupColumns.map((column) => `${column} = :${column}`).join(' AND ')}`;

/** The rows of a parameter, in order: arrays of texts and numbers. */
function rowsOf(isShared: boolean): string {
  return isShared
    ? 'json_array_elements(CAST(:rows AS json)) WITH ORDINALITY AS given (value, n)'
    : '(SELECT value, key + 1 AS n FROM json_each(:rows)) AS given';
}

function toParameter(rows: readonly (readonly (string | number | null)[])[]): string {
  return JSON.stringify(
    rows.map((row) => row.map((value) => (typeof value === 'string' ? encodeText(value) : value))),
  );
}

function toRow(decision: NewDecision | NewGap, group: number) {
  if ('dropped' in decision)
    return [group, decision.at, decision.dropped, 0, '', null, null, null, null, ''] as const;
  const { at, durationMs, event, operationId, run, step, error, reason } = decision;
  return [group, at, 0, durationMs, event, operationId, run, step, error, reason] as const;
}

const numbers = ['in_group', 'at', 'dropped', 'duration_ms'];
const columns = [...numbers, 'event', 'operation_id', 'run', 'step', 'error', 'reason'];
const insertDecisions = (isShared: boolean) => `
  INSERT INTO signalbox.decisions (${columns.join(', ')}${isShared ? ', token' : ''})
  SELECT ${columns.map((_, n) => (n < numbers.length ? `CAST(value ->> ${n} AS bigint)` : `value ->> ${n}`)).join(', ')}
    ${isShared ? ', CASE WHEN n = 1 THEN :token END' : ''}
  FROM ${rowsOf(isShared)} ORDER BY n`;
const ownBatch = 'SELECT seq FROM signalbox.decisions WHERE token = :token';

function isAny({ hook, verdict, mode, operation, run, event, since, until }: DecisionFilter): boolean {
  return [hook, verdict, mode, operation, run, event, since, until].every((each) => each === undefined);
}

function timeOf({ since = 0, until = Number.MAX_SAFE_INTEGER }: Pick<DecisionFilter, 'since' | 'until'>) {
  return { since, until };
}

const grouped = ['hook', 'verdict', 'mode', 'operation'] as const;

function givenOf<Name extends string>(
  filter: { readonly [Each in Name]?: string | undefined },
  names: readonly Name[],
): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name): [string, string][] => (filter[name] === undefined ? [] : [[name, filter[name]]])),
  );
}

function groupsOf(filter: DecisionFilter): string {
  const conditions = grouped
    .filter((name) => filter[name] !== undefined)
    .map((name) => `g.${name} = :${name}`);
  return ["g.hook <> ''", ...conditions].join(' AND ');
}

/** A file has no statistics from which SQLite could choose the index. */
function source(table: string, { run }: DecisionFilter, isShared: boolean): string {
  const index = run === undefined ? 'decisions_in_group' : 'decisions_of_run';
  return `signalbox.decisions AS ${table}${isShared ? '' : ` INDEXED BY ${index}`}`;
}

function inGroup(table: string, { run }: DecisionFilter): string {
  return `${table}.in_group = g.id AND ${table}.at >= :since AND ${table}.at < :until${run === undefined ? '' : ` AND ${table}.run = :run`}`;
}

const newest = 'SELECT seq FROM signalbox.decisions WHERE seq < :after ORDER BY seq DESC LIMIT :limit';
const areGaps = (kind = '') =>
  `in_group IN (SELECT id FROM signalbox.decision_groups WHERE hook = ''${kind}) AND at >= :since AND at < :until`;
const newestGaps = `SELECT seq FROM signalbox.decisions WHERE ${areGaps()} AND seq < :after
  ORDER BY seq DESC LIMIT :limit`;
const countGaps = `SELECT CAST(sum(dropped) AS bigint) AS dropped FROM signalbox.decisions
  WHERE ${areGaps(' AND kind = :what')}`;

function isOf(filter: DecisionFilter): string {
  return [
    'true',
    ...Object.keys(givenOf(filter, ['run', 'event'])).map((name) => `d.${name} = :${name}`),
  ].join(' AND ');
}

/** The newest of each group, so that no group is read beyond the page. */
const newestOf = (filter: DecisionFilter, isShared: boolean) => `
  SELECT d.seq FROM signalbox.decision_groups AS g ${isShared ? '' : 'CROSS '}JOIN ${source('d', filter, isShared)}
    ON ${inGroup('d', filter)} AND d.seq < :after AND d.seq >= coalesce((
      SELECT o.seq FROM ${source('o', filter, isShared)} WHERE ${inGroup('o', filter)} AND o.seq < :after
        ORDER BY o.seq DESC LIMIT 1 OFFSET :limit - 1), 0)
  WHERE ${groupsOf(filter)} ORDER BY d.seq DESC LIMIT :limit`;

const newestOfEvent = (filter: DecisionFilter, isShared: boolean) => `
  SELECT d.seq FROM signalbox.decisions AS d ${isShared ? '' : 'INDEXED BY decisions_by_time'}
    WHERE d.at >= :since AND d.at < :until AND ${isOf(filter)} AND d.seq < :after
      AND d.in_group IN (SELECT g.id FROM signalbox.decision_groups AS g WHERE ${groupsOf(filter)})
    ORDER BY d.seq DESC LIMIT :limit`;

const decisionsAt = `SELECT d.*, ${groupColumns.map((column) => `g.${column}`).join(', ')}
  FROM signalbox.decisions AS d JOIN signalbox.decision_groups AS g ON g.id = d.in_group
  WHERE d.seq IN :places ORDER BY d.seq DESC`;

const countsOf = (filter: DecisionFilter, everyMs: number | undefined) => {
  const begin = everyMs === undefined ? 'CAST(NULL AS bigint)' : 'd.at - d.at % CAST(:every AS bigint)';
  return `
  SELECT g.hook, g.mode, g.verdict, c.begin, CAST(sum(c.count) AS bigint) AS count FROM signalbox.decision_groups AS g
    JOIN (SELECT d.in_group, ${begin} AS begin, count(*) AS count FROM signalbox.decisions AS d
      WHERE d.at >= :since AND d.at < :until AND ${isOf(filter)}
      GROUP BY d.in_group ${everyMs === undefined ? '' : ', begin'}) AS c ON c.in_group = g.id
  WHERE ${groupsOf(filter)} GROUP BY c.begin, g.hook, g.mode, g.verdict ORDER BY c.begin, g.hook, g.mode, g.verdict`;
};

function originFromRow(row: Row): Origin {
  return {
    operation: textOf(row, 'operation'),
    operationId: textOrNull(row, 'operation_id'),
    run: textOrNull(row, 'run'),
    step: textOrNull(row, 'step'),
    at: numberOf(row, 'at'),
  };
}

function decisionFromRow(row: Row): KeptDecision {
  const place = numberOf(row, 'seq');
  const dropped = numberOf(row, 'dropped');
  if (dropped > 0) {
    const what = enumOf<NewGap['what']>(row, 'kind', ['decisions', 'model_calls']);
    return { place, what, dropped, at: numberOf(row, 'at') };
  }
  return {
    ...originFromRow(row),
    place,
    hook: textOf(row, 'hook'),
    dialect: textOf(row, 'dialect'),
    kind: textOf(row, 'kind'),
    phase: textOf(row, 'phase'),
    mode: textOf(row, 'mode'),
    verdict: textOf(row, 'verdict'),
    event: textOf(row, 'event'),
    reason: textOf(row, 'reason'),
    error: textOrNull(row, 'error'),
    durationMs: numberOf(row, 'duration_ms'),
  };
}

function countFromRow(row: Row): DecisionCount {
  const [hook, mode, verdict] = [textOf(row, 'hook'), textOf(row, 'mode'), textOf(row, 'verdict')];
  const at = numberOrNull(row, 'begin');
  return { ...(at !== null && { at }), hook, mode, verdict, count: numberOf(row, 'count') };
}

function* addCall(call: NewModelCall, isShared: boolean): Work<void> {
  const { messages, operationId, ...members } = call;
  const made = yield* get(insertCall, { ...members, operation_id: operationId });
  if (made === undefined) return;
  const hashes = messages.map((text) => createHash('sha256').update(text, 'utf16le').digest('hex'));
  const known = new Map<string, number>();
  for (const row of yield* all(findMessages, { hashes })) known.set(textOf(row, 'hash'), numberOf(row, 'id'));
  for (const [index, text] of messages.entries()) {
    const hash = hashes[index] ?? '';
    if (known.has(hash)) continue;
    known.set(hash, numberOf((yield* get(insertMessage, { hash, text })) ?? {}, 'id'));
  }
  const rows = hashes.map((hash) => [known.get(hash) ?? 0]);
  yield* all(insertPlaces(isShared), { call: numberOf(made, 'seq'), rows: toParameter(rows) });
}

const insertCall = `
  INSERT INTO signalbox.model_calls (id, at, operation, operation_id, run, step, provider, model, answers)
  VALUES (:id, :at, :operation, :operation_id, :run, :step, :provider, :model, :answers)
  ON CONFLICT (id) DO NOTHING RETURNING seq`;
const findMessages = 'SELECT id, hash FROM signalbox.messages WHERE hash IN :hashes';
// Another process may have added it meanwhile.
const insertMessage = `INSERT INTO signalbox.messages (hash, text) VALUES (:hash, :text)
  ON CONFLICT (hash) DO UPDATE SET hash = excluded.hash RETURNING id`;
const insertPlaces = (isShared: boolean) => `
  INSERT INTO signalbox.call_messages (call, place, message)
  SELECT CAST(:call AS bigint), n, CAST(value ->> 0 AS bigint) FROM ${rowsOf(isShared)}`;

function callsOf(filter: CallFilter): string {
  const wanted = { operationId: 'operation_id = :operationId', run: 'run = :run', step: isOfStep };
  const conditions = Object.keys(givenOf(filter, ['operationId', 'run', 'step'])).map(
    (name) => wanted[name as keyof typeof wanted],
  );
  return `SELECT * FROM signalbox.model_calls WHERE ${[...conditions, 'seq > :after'].join(' AND ')} ORDER BY seq LIMIT :limit`;
}

const isOfStep = "(step IS NULL OR :step = step OR substr(:step, 1, length(step) + 1) = step || '/')";

const messagesOf =
  'SELECT call, message FROM signalbox.call_messages WHERE call IN :calls ORDER BY call, place';

function callFromRow(row: Row, messages: readonly Row[]): KeptModelCall {
  return {
    ...originFromRow(row),
    place: numberOf(row, 'seq'),
    id: textOf(row, 'id'),
    provider: textOf(row, 'provider'),
    model: textOf(row, 'model'),
    answers: numberOf(row, 'answers'),
    messages: messages.map((each) => numberOf(each, 'message')),
  };
}

const isOlder = 'at < signalbox.now_ms(:now) - :keep';
const anyOlder = `SELECT 1 AS older WHERE EXISTS (SELECT 1 FROM signalbox.decisions WHERE ${isOlder})
  OR EXISTS (SELECT 1 FROM signalbox.model_calls WHERE ${isOlder})`;
const isOld = `${isOlder} AND (run IS NULL OR NOT (run IN :runs)) ORDER BY at LIMIT :limit`;
const removeDecisions = `DELETE FROM signalbox.decisions
  WHERE seq IN (SELECT seq FROM signalbox.decisions WHERE ${isOld}) RETURNING seq`;
const oldCalls = `SELECT seq FROM signalbox.model_calls WHERE ${isOld}`;
const messagesIn = 'SELECT DISTINCT message FROM signalbox.call_messages WHERE call IN :calls';
const removeUnused = `DELETE FROM signalbox.messages WHERE id IN :ids
  AND NOT EXISTS (SELECT 1 FROM signalbox.call_messages AS c WHERE c.message = messages.id)`;
