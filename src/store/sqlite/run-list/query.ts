import type { RunFilter } from '../../store.ts';
import { isOfStatus, suspensionColumns } from '../../suspension.ts';
import type { Values } from '../statement.ts';
import { labelsColumn } from './labels.ts';
import { parentColumn } from './parents.ts';

/** The statement of a list of runs, newest first, without what may be long in them; it is the same text for filters of one shape. */
export function toSummaryQuery(filter: RunFilter): { readonly sql: string; readonly values: Values } {
  const { status, name, since, until, after, labels = {}, parent, root, all = false, limit = -1 } = filter;
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
  require('parent', parent, 'kin.parent = :parent');
  require('root', root, 'kin.root = :root');
  const isBelow = parent !== undefined || root !== undefined;
  if (!isBelow && !all) conditions.push('NOT EXISTS (SELECT 1 FROM run_parents WHERE id = runs.id)');
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  // Neither a join nor a filter reads the rows themselves, which may be long.
  const listed = isLed
    ? 'run_labels AS led INDEXED BY runs_labelled CROSS JOIN runs INDEXED BY runs_listed ON runs.seq = led.run'
    : 'runs INDEXED BY runs_listed';
  const from = isBelow
    ? `run_parents AS kin CROSS JOIN runs ON runs.id = kin.id${isLed ? ledOf : ''}`
    : listed;
  const sql = `SELECT runs.seq, runs.id, kind, name, file, status, created_at, updated_at, ${suspensionColumns},
      (SELECT count(*) FROM pendings WHERE run_id = runs.id AND ruling IS NULL)
      + CASE WHEN status IN ('running', 'pending') THEN (SELECT count(*) FROM run_parents AS below
          JOIN pendings ON pendings.run_id = below.id AND ruling IS NULL WHERE below.root = runs.id)
        ELSE 0 END AS open, ${labelsColumn}, ${parentColumn}
    FROM ${from} LEFT JOIN suspensions AS s ON s.run = runs.seq
    ${where} ORDER BY ${isLed ? 'led.run' : 'runs.seq'} DESC LIMIT :limit`;
  return { sql, values };
}

const ledOf = ' JOIN run_labels AS led ON led.run = runs.seq';

function hasLabel(index: number): string {
  return `EXISTS (SELECT 1 FROM run_labels AS l WHERE l.run = runs.seq AND l.key = :key${index} AND l.value = :value${index})`;
}
