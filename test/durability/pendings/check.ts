import type { PendingDocument, Runtime } from '../../../src/index.ts';
import { loadSqlite } from '../../../src/store/sqlite/node-sqlite.ts';
import type { Office } from './office.ts';
import type { Said } from './said.ts';

export interface Findings {
  readonly counts: {
    /** Calls that were reported as pending. */
    readonly told: number;
    /** Calls in the store. A killed process may have stored one without reporting it. */
    readonly kept: number;
    readonly byStatus: Record<string, number>;
    /** Decisions that were reported as accepted. */
    readonly won: number;
    readonly conflicts: number;
    readonly payments: number;
    /** Calls of `pay` that a kill interrupted and that were repeated under the same key. */
    readonly repeatedPayments: number;
    readonly mails: number;
    /** Calls of `mail` that a kill interrupted, so that a person was asked again. */
    readonly interrupted: number;
  };
  readonly faults: readonly string[];
}

export async function check(office: Office, said: readonly Said[], runtime: Runtime): Promise<Findings> {
  const kept = await runtime.pending.list({ all: true });
  const byId = new Map(kept.map((pending) => [pending.id, pending]));
  const counts = {
    told: said.filter(({ what }) => what === 'took').length,
    kept: kept.length,
    byStatus: countBy(kept, ({ status }) => status),
    won: said.filter(({ what }) => what === 'won').length,
    conflicts: said.filter(({ what }) => what === 'lost').length,
    payments: office.payments().length,
    repeatedPayments: office.paymentCalls() - office.payments().length,
    mails: office.mails().length,
    interrupted: kept.filter(({ origin }) => origin === 'interrupted').length,
  };
  const faults = [
    ...faultsOfSaid(said, byId),
    ...kept.flatMap(({ id, status }) => (status === 'open' ? [`${id} is open`] : [])),
    ...faultsOfEffects(office, kept),
    ...integrityFaults(office.state),
  ];
  return { counts, faults };
}

/** Every report must be true, and no two may claim the same decision. */
function faultsOfSaid(said: readonly Said[], kept: ReadonlyMap<string, PendingDocument>): string[] {
  const winners = new Map<string, string>();
  return said.flatMap((line) => {
    const pending = kept.get(line.id);
    if (pending === undefined) return [`${line.id} is lost: ${JSON.stringify(line)}`];
    if (line.what === 'took') return pending.run_id === line.run ? [] : [`${line.id} is of another run`];
    if (line.what === 'lost')
      return pending.by === line.by ? [`${line.by} decided ${line.id} and was told not`] : [];
    const other = winners.get(line.id);
    winners.set(line.id, line.by);
    if (other !== undefined) return [`${line.id} was decided twice, by ${other} and by ${line.by}`];
    return pending.by === line.by ? [] : [`${line.id}: the decision of ${line.by} does not stand`];
  });
}

function faultsOfEffects(office: Office, kept: readonly PendingDocument[]): string[] {
  const paid = countBy(office.payments(), ({ n }) => n);
  const mailed = countBy(office.mails(), (n) => n);
  const calls = Map.groupBy(kept, ({ args }) => numberOf(args));
  const faults = [...calls].flatMap(([n, pendings]) => {
    const approvals = pendings.filter(({ status }) => status === 'approved').length;
    const isPayment = pendings[0]?.tool === 'pay';
    const effects = (isPayment ? paid : mailed)[n] ?? 0;
    if (isPayment && effects !== approvals)
      return [`payment ${n}: ${effects} effects, ${approvals} approvals`];
    return effects > approvals ? [`mail ${n}: ${effects} effects, ${approvals} approvals`] : [];
  });
  const unknown = [...Object.keys(paid), ...Object.keys(mailed)].filter((n) => !calls.has(n));
  return [...faults, ...unknown.map((n) => `${n} has an effect and no call that waited`)];
}

function numberOf(args: unknown): string {
  return typeof args === 'object' && args !== null && 'n' in args ? String(args.n) : '';
}

function integrityFaults(file: string): string[] {
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const said = database.prepare('PRAGMA integrity_check').get()?.['integrity_check'];
    return said === 'ok' ? [] : [`integrity_check: ${String(said)}`];
  } finally {
    database.close();
  }
}

function countBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(items, keyOf)].map(([key, { length }]) => [key, length]));
}
