import { type Driver, doLater, type Query } from '../driver.ts';
import { decodeRow, encodeText, type Row } from '../sqlite/row.ts';
import type { Link } from './connection/client.ts';
import { transact } from './connection/session.ts';

/** Runs work after earlier work on the connection. Rejects with STORE_FAILED. */
export type Run = <Result>(work: (link: Link) => Promise<Result>) => Promise<Result>;

export function createDriver(location: string, run: Run): Driver {
  return {
    ...{ location, isShared: true },
    read: (work) => run((link) => doLater(work(), (query) => ask(link, query))),
    transact: (work) => run((link) => transact(link, () => doLater(work(), (query) => ask(link, query)))),
  };
}

async function ask(link: Link, { sql, values, name }: Query): Promise<Row[]> {
  const { text, names } = toNumbered(sql);
  const kept = names.map((each) => keep(values[each] ?? null));
  const rows = await link.query({ text, values: kept, ...(name !== undefined && { name }) });
  return rows.map(decodeRow);
}

function keep(value: Query['values'][string]): unknown {
  if (typeof value === 'string') return encodeText(value);
  return typeof value === 'object' && value !== null ? value.map(keep) : value;
}

function toNumbered(sql: string): { readonly text: string; readonly names: readonly string[] } {
  const names: string[] = [];
  const placeOf = (name: string) => {
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  };
  const text = sql
    .replaceAll(
      /signalbox\.(\w+)\(([^()]*)\)/g,
      (call, name: string, of: string) => functions[name]?.(of) ?? call,
    )
    .replaceAll(/\bIN :(\w+)/g, (_, name: string) => `= ANY (${placeOf(name)})`)
    .replaceAll(/(?<!:):([a-z_]\w*)/g, (_, name: string) => placeOf(name));
  return { text, names };
}

const functions: Readonly<Record<string, (of: string) => string>> = {
  labels_of: (run) =>
    `(SELECT json_object_agg(l.key, l.value ORDER BY l.key)::text FROM signalbox.run_labels AS l WHERE l.run = ${run})`,
  pipelines_of: (run) =>
    `(SELECT json_object_agg(p.file, p.text)::text FROM signalbox.run_pipelines AS p WHERE p.run_id = ${run})`,
};
