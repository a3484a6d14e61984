import { loadSqlite } from '../../../src/store/sqlite/node-sqlite.ts';
import { type Serving, serve } from '../../gateway/hostile/serving.ts';
import type { Group, GroupResult } from '../group.ts';
import { type AuditFault, auditFaults, smallDisk, stateOf } from './audit-faults.ts';
import { type Call, calls, endOf, secret } from './endpoints.ts';
import { providersAt } from './served.ts';
import { sound } from './talks.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const moments = ['in the middle of a call', 'before a call', 'and is mended before a call'] as const;
type Moment = (typeof moments)[number];

interface Plan {
  readonly fault: AuditFault;
  readonly isRequired: boolean;
  readonly cells: Readonly<Record<Moment, readonly Call[]>>;
}

export const auditsAtEndpoints: Group = {
  name: 'audits of the gateway',
  every: 151,
  async *run(isChosen) {
    let at = 0;
    const chosen = () => calls.filter(() => isChosen(at++));
    for (const fault of auditFaults)
      for (const isRequired of [true, false]) {
        const cells = {
          'in the middle of a call': chosen(),
          'before a call': chosen(),
          'and is mended before a call': chosen(),
        };
        if (moments.some((moment) => cells[moment].length > 0)) yield* tryFault({ fault, isRequired, cells });
      }
  },
};

async function* tryFault(plan: Plan): AsyncIterable<GroupResult> {
  const { fault, isRequired, cells } = plan;
  const upstream = await startUpstream();
  const served = await openServer(upstream, plan);
  try {
    // Before a server notices, one call may get as far as its own row.
    const middle = cells['in the middle of a call'];
    const { told, mend } = await spoilWithin(middle.length > 0 ? middle : calls.slice(0, 1), {
      served,
      upstream,
      fault,
    });
    yield* middle.map((call, index) =>
      judge(plan, 'in the middle of a call', { call, served, ...told[index] }),
    );
    upstream.talkWith(sound);
    yield* await askAll(plan, 'before a call', { served, upstream });
    mend?.();
    if (mend !== undefined) yield* await askAll(plan, 'and is mended before a call', { served, upstream });
    const code = await served.stop();
    const isSilent = !/unhandled|uncaught|^ {4}at .+:\d+:\d+/im.test(served.printed());
    const row = rowOf(plan, 'and the server ends');
    const problem = code === 0 && isSilent ? undefined : `${code} | ${served.printed().slice(-800)}`;
    yield { row, word: `exit ${code}`, problem };
    if (!isRequired && !fault.isPartial && mend === undefined && !/audit\.db/.test(served.printed()))
      yield { row, word: 'silent', problem: 'nobody is told that rows are missing' };
  } finally {
    await served[Symbol.asyncDispose]();
    upstream.close();
  }
}

async function openServer({ url }: Upstream, { fault, isRequired }: Plan): Promise<Serving> {
  const spec = [
    ...providersAt(url),
    'hooks: {guard: {command: ./guard.sh, hook: provider}}',
    `gateway: {audit: {required: ${isRequired}}}`,
  ].join('\n');
  const script = `#!/bin/sh\ncat > /dev/null\necho '{"allow": true}'\n`;
  return await serve(spec, { 'guard.sh': script }, { ...(fault.isSmallDisk && { prefix: smallDisk }) });
}

interface Told {
  readonly status: number;
  readonly text: string;
}

async function ask({ url }: Serving, call: Call): Promise<Told> {
  const response = await fetch(`${url}${call.path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify(call.body),
    signal: AbortSignal.timeout(40_000),
  });
  return { status: response.status, text: await response.text().catch(() => '[cut]') };
}

interface Bench {
  readonly served: Serving;
  readonly upstream: Upstream;
}

async function spoilWithin(
  within: readonly Call[],
  { served, upstream, fault }: Bench & { readonly fault: AuditFault },
) {
  const { promise: whenSpoiled, resolve } = Promise.withResolvers<void>();
  upstream.talkWith(async (socket, call) => {
    await whenSpoiled;
    sound(socket, call);
  });
  const asked = Promise.all(within.map((call) => ask(served, call)));
  while (upstream.asked().length < within.length) await new Promise((next) => setTimeout(next, 5));
  const mend = fault.spoil(served);
  resolve();
  return { told: await asked, mend };
}

async function askAll(plan: Plan, moment: Moment, { served, upstream }: Bench): Promise<GroupResult[]> {
  upstream.talkWith(sound);
  const own = plan.cells[moment];
  const told = await Promise.all(own.map((call) => ask(served, call)));
  const isAsked = (call: Call) => upstream.asked().includes(call.title);
  return own.map((call, index) =>
    judge(plan, moment, { call, served, isAsked: isAsked(call), ...told[index] }),
  );
}

interface Cell extends Partial<Told> {
  readonly call: Call;
  readonly served: Serving;
  readonly isAsked?: boolean;
}

function judge(plan: Plan, moment: Moment, cell: Cell): GroupResult {
  const { call, status, text = '' } = cell;
  const problem = problemOf(plan, moment, cell);
  const shown = `${call.title} | ${status} ${text.slice(0, 400)}`;
  return { row: rowOf(plan, moment), word: `${status}`, problem: problem && `${problem} | ${shown}` };
}

/** docs/operate/gateway-audit.md, "When the gateway writes rows, and when it cannot". */
function problemOf({ fault, isRequired }: Plan, moment: Moment, cell: Cell): string | undefined {
  const { call, status, text = '', isAsked } = cell;
  const isWhole = status === 200 && text.includes(endOf(call));
  // Keys and counters are in the same folder.
  if (!isRequired && fault.takesKeys && status === 503 && text.includes('store_failed')) return undefined;
  if (!isRequired || moment === 'and is mended before a call')
    return isWhole ? undefined : 'it should be answered';
  if (isWhole)
    return fault.isPartial && hasRow(cell) ? undefined : 'it is answered, and nothing of it is kept';
  if (moment === 'before a call' && isAsked && !fault.isPartial) return 'the upstream was asked';
  if (status === 200) return call.isStream ? undefined : 'it is answered in part';
  if (text.includes(secret)) return 'it tells what is not kept';
  return status === 503 && text.includes('audit_failed') ? undefined : 'it should be 503 audit_failed';
}

function hasRow({ served, call }: Cell): boolean {
  const { DatabaseSync } = loadSqlite();
  try {
    const database = new DatabaseSync(`${stateOf(served)}/audit.db`, { readOnly: true });
    const sql = `SELECT count(*) AS count FROM rows WHERE body ->> '$.endpoint' = ? AND body ->> '$.outcome' = 'allowed'`;
    const counted = database.prepare(sql).get(call.title.split(',')[0] ?? '');
    database.close();
    return Number(counted?.['count']) > 0;
  } catch {
    return true;
  }
}

function rowOf({ fault, isRequired }: Plan, moment: string): string {
  return `gateway: an audit ${isRequired ? 'that is required' : 'that need not be'} ${fault.title}, ${moment}`;
}
