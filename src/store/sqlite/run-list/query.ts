import type { RunFilter } from '../../store.ts';
import { isOfStatus, suspensionColumns } from '../../suspension.ts';
import type { Values } from '../statement.ts';
import { labelsColumn } from './labels.ts';

/** The statement of a list of runs, newest first, without what may be long in them; it is the same text for filters of one shape. */
export function toSummaryQuery(filter: RunFilter): { readonly sql: string; readonly values: Values } {
  const { status, name, since, until, after, labels = {}, limit = -1 } = filter;
  const wanted = Object.entries(labels);
  const conditions: string[] = [];
  const values: Record<string, string | number> = { limit };
  const require = (column: string, value: string | number | undefined, condition: string) => {
    if (value === undefined) return;
    conditions.push(condition);
    values[column] = value;
  };
  const ofStatus = status && isOfStatus[status];
  if (ofStatus === undefined) require('status', status, 'runs.status = :status');
  else conditions.push(ofStatus);
  require('name', name, 'runs.name = :name');
  require('since', since, 'runs.created_at >= :since');
  require('until', until, 'runs.created_at < :until');
  const isLed = wanted.length > 0;
  require('after', after, `${isLed ? 'led.run' : 'runs.seq'} < :after`);
  for (const [index, [key, value]] of wanted.entries()) {
    values[`key${index}`] = key;
    values[`value${index}`] = value;
    // The first label leads, in the order of the runs that have it; the others are looked up.
    if (index === 0) conditions.push('led.key = :key0 AND led.value = :value0');
    else conditions.push(hasLabel(index));
  }
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  // Neither a join nor a filter reads the rows themselves, which may be long.
  const from = isLed
    ? 'run_labels AS led INDEXED BY runs_labelled CROSS JOIN runs INDEXED BY runs_listed ON runs.seq = led.run'
    : 'runs INDEXED BY runs_listed';
  const sql = `SELECT runs.seq, id, kind, name, file, status, created_at, updated_at, ${suspensionColumns},
      (SELECT count(*) FROM pendings WHERE run_id = runs.id AND ruling IS NULL) AS open, ${labelsColumn}
    FROM ${from} LEFT JOIN suspensions AS s ON s.run = runs.seq ${where} ORDER BY ${isLed ? 'led.run' : 'runs.seq'} DESC LIMIT :limit`;
  return { sql, values };
}

function hasLabel(index: number): string {
  return `EXISTS (SELECT 1 FROM run_labels AS l WHERE l.run = runs.seq AND l.key = :key${index} AND l.value = :value${index})`;
}
