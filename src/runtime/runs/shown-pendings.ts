import { RuntimeError } from '../../base/errors.ts';
import { Json } from '../../base/json/json.ts';
import { shorten } from '../../base/text/phrases.ts';
import { requireDecider, whyNotAsked } from '../../calls/tool-call/approvals.ts';
import {
  isQuestion,
  type PendingCounts,
  type PendingInfo,
  type PendingPage,
  type PendingRecord,
  type PendingUse,
} from '../../contract/approval.ts';
import {
  choicesNow,
  type DecisionContext,
  decidersOf,
  mayDecide,
  unknownPending,
} from '../../pipelines/run/decisions.ts';
import { digestOfPending, toPendingInfo } from '../../pipelines/run/document.ts';
import { shortenJson } from '../../pipelines/show/shorten-json.ts';
import { IDENTITY_MS } from '../../store/identities.ts';
import type { PendingCount, PlacedPending, PendingCountFilter as StoreFilter } from '../../store/store.ts';
import { GATEWAY_RUN, isEnded, KEPT_FOR_MS } from '../../store/store-rules.ts';
import type { PendingCountFilter, PendingFilter, PendingPageFilter } from '../api-options.ts';
import { MAX_PAGE, readCursor, readPageSize, timeOf, toCursor } from '../cursor.ts';

interface PendingContext extends DecisionContext {
  readonly schemaOf: (tool: string) => PendingInfo['input_schema'];
}

/** Throws USAGE, STORE_FAILED. */
export async function pagePendings(
  context: PendingContext,
  { use, status = use === undefined ? 'open' : 'all', ...given }: PendingPageFilter,
): Promise<PendingPage> {
  const { limit: size, after: last, maxCharacters, ...filter } = given;
  if (status !== 'all' && !statuses.includes(status))
    throw new RuntimeError('USAGE', `\`status\` is not one of ${[...statuses, 'all'].join(', ')}`);
  if (use !== undefined && !uses.includes(use))
    throw new RuntimeError('USAGE', `\`use\` is not one of ${uses.join(', ')}`);
  if (maxCharacters !== undefined && !(Number.isSafeInteger(maxCharacters) && maxCharacters >= 1))
    throw new RuntimeError('USAGE', '`maxCharacters` is not a whole number of 1 or more');
  const limit = readPageSize(size);
  const wanted = { ...toStoreFilter(filter), use, status: status === 'all' ? undefined : status };
  const now = await context.store.now();
  const isWanted = (row: PlacedPending) =>
    isFor(row, filter.by) && (use === undefined || useOf(row, now) === use);
  const tools = await decidableTools(context, filter);
  const found: PlacedPending[] = [];
  let after = readCursor('pending', last);
  for (let isLast = false; !isLast && found.length <= limit; ) {
    const rows = await context.store.pagePendings({ ...wanted, tools, after, limit: limit + 1 }, Date.now());
    found.push(...rows.filter(isWanted));
    after = rows.at(-1)?.place;
    isLast = rows.length <= limit;
  }
  const shown = found.slice(0, limit);
  const lastShown = found.length > limit ? shown.at(-1) : undefined;
  return {
    pending: shown.map((row) => toInfo(context, row, { now, maxCharacters })),
    ...(lastShown && { next: toCursor('pending', lastShown.place) }),
  };
}

/** All calls in the order of adding. Throws STORE_FAILED. */
export async function listPendings(
  context: PendingContext,
  { runId: run, all = false }: PendingFilter,
): Promise<PendingInfo[]> {
  const found: PendingInfo[] = [];
  const now = await context.store.now();
  for (let after: number | undefined; ; ) {
    const page = { run, status: all ? undefined : ('open' as const), after, limit: MAX_PAGE };
    const rows = await context.store.pagePendings(page, Date.now());
    found.push(...rows.map((row) => toInfo(context, row, { now })));
    after = rows.at(-1)?.place;
    if (rows.length < MAX_PAGE) return found;
  }
}

/** Throws RUN_UNKNOWN, STORE_FAILED. */
export async function showPending(
  context: PendingContext,
  id: string,
  { maxCharacters }: Pick<PendingPageFilter, 'maxCharacters'> = {},
): Promise<PendingInfo> {
  const [row] = typeof id === 'string' ? await context.store.pagePendings({ id, limit: 1 }, Date.now()) : [];
  if (row === undefined) throw unknownPending(context.store, id);
  return toInfo(context, row, { now: await context.store.now(), maxCharacters });
}

function toInfo(
  { declared, schemaOf }: PendingContext,
  row: PlacedPending,
  { now, maxCharacters }: { readonly now: number; readonly maxCharacters?: number | undefined },
) {
  const { record } = row;
  const shown = maxCharacters === undefined ? record : shortenRecord(record, maxCharacters);
  return toPendingInfo(
    { ...row, record: shown },
    {
      digest: digestOfPending(record),
      use: useOf(row, now),
      deciders: decidersOf(declared, record) ?? null,
      choices: choicesNow({ declared, isOfAgent: row.caller !== null }, record),
      input_schema: schemaOf(record.tool),
      ...(shown !== record && { args_cut: true }),
    },
  );
}

/** The same record if all its texts are short. */
function shortenRecord(record: PendingRecord, max: number): PendingRecord {
  const { message, args, members, ruling } = record;
  let isCut = message.length > max;
  const short = (json: Json) => {
    const cut = shortenWhole(json, max);
    isCut ||= cut !== json;
    return cut;
  };
  const cut: PendingRecord = {
    ...record,
    message: shorten(message, max),
    args: short(args),
    members: short(members),
    ...(ruling?.kind === 'approved' && { ruling: { ...ruling, args: ruling.args && short(ruling.args) } }),
    ...(ruling?.kind === 'responded' && { ruling: { ...ruling, result: short(ruling.result) } }),
  };
  return isCut ? cut : record;
}

/** Cuts long texts and lists until the whole is about as short. What is very long is not read. */
function shortenWhole(json: Json, max: number): Json {
  if (json.text.length <= max) return json;
  for (const each of json.text.length <= MOST_READ ? [max, max / 10, max / 100] : []) {
    const short = shortenJson(json, Math.ceil(each));
    if (short.text.length <= 2 * max) return short;
  }
  return Json.from(`(${json.text.length} characters)`);
}

const MOST_READ = 1_000_000;

/**
 * The use of an approval or answer at `now` (ms since 1970). A run uses it by continuing. An agent, or the client of a
 * gateway, uses it by making the same call again, which ends the run of the question.
 */
function useOf(
  { record, run, caller, runStatus, hasContinued }: PlacedPending,
  now: number,
): PendingUse | null {
  const { ruling, decidedAt } = record;
  if (decidedAt === null || (ruling?.kind !== 'approved' && ruling?.kind !== 'responded')) return null;
  if (caller === null) return hasContinued ? 'used' : isEnded(runStatus) ? 'expired' : 'not_used';
  if (runStatus === 'completed' || runStatus === 'denied') return 'used';
  const isOfGateway = run.name === GATEWAY_RUN;
  if (!isOfGateway && isEnded(runStatus)) return 'expired';
  return decidedAt > now - (isOfGateway ? KEPT_FOR_MS : IDENTITY_MS) ? 'not_used' : 'expired';
}

const uses: readonly PendingUse[] = ['not_used', 'used', 'expired'];

/** Throws USAGE, STORE_FAILED. */
export async function countPendings(
  context: PendingContext,
  filter: PendingCountFilter,
): Promise<PendingCounts> {
  const counts = await countedFor(context, filter);
  const byStatus = new Map(statuses.map((status) => [status, 0]));
  const byTool = new Map<string, number>();
  for (const { tool, status, count } of counts) {
    byStatus.set(status, (byStatus.get(status) ?? 0) + count);
    byTool.set(tool, (byTool.get(tool) ?? 0) + count);
  }
  return {
    total: counts.reduce((sum, { count }) => sum + count, 0),
    by_status: Object.fromEntries(byStatus) as PendingCounts['by_status'],
    by_tool: Object.fromEntries(byTool),
  };
}

async function countedFor(context: PendingContext, filter: PendingCountFilter): Promise<PendingCount[]> {
  const { store, declared } = context;
  const { by } = filter;
  const wanted = toStoreFilter(filter);
  const counted = await store.countPendings(wanted, Date.now());
  if (by === undefined) return counted;
  const counts = counted.filter(({ tool }) => !isQuestion({ tool }) && mayDecide(declared, tool, by));
  // The store cannot read who may answer a question.
  let after: number | undefined;
  for (const questions = counted.filter(isQuestion); questions.length > 0; ) {
    const tools = questions.map(({ tool }) => tool);
    const rows = await store.pagePendings({ ...wanted, tools, after, limit: MAX_PAGE }, Date.now());
    for (const { record } of rows.filter((row) => isFor(row, by)))
      counts.push({ tool: record.tool, status: record.ruling?.kind ?? 'open', count: 1 });
    after = rows.at(-1)?.place;
    if (rows.length < MAX_PAGE) break;
  }
  return counts;
}

/** The tools of known calls about which the person may decide; undefined: any. */
async function decidableTools({ store, declared }: PendingContext, filter: PendingCountFilter) {
  const { by } = filter;
  if (by === undefined) return undefined;
  const counted = await store.countPendings(toStoreFilter(filter), Date.now());
  return [...new Set(counted.map(({ tool }) => tool))].filter((tool) => mayDecide(declared, tool, by));
}

function isFor({ record }: PlacedPending, by: string | undefined): boolean {
  return by === undefined || !isQuestion(record) || whyNotAsked(record, by) === undefined;
}

function toStoreFilter({ tool, run, by, since }: PendingCountFilter): StoreFilter {
  for (const [name, value] of Object.entries({ tool, run }))
    if (value !== undefined && typeof value !== 'string')
      throw new RuntimeError('USAGE', `\`${name}\` is not a string`);
  if (by !== undefined) requireDecider(by);
  return { tool, run, since: timeOf('since', since) };
}

const statuses = [
  'open',
  'approved',
  'rejected',
  'responded',
  'expired',
  'cancelled',
] as const satisfies readonly PendingCount['status'][];
