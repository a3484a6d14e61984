import { isObject } from '../json/json.ts';
import type { Path, YamlDocument } from '../yaml/document.ts';
import type { Problem } from '../yaml/problem.ts';
import { type Entry, entriesAt, textAt, valueAt, wordAt } from '../yaml/read.ts';
import { suggest } from '../yaml/suggest.ts';
import { checkApprovals } from './build/approval.ts';
import { checkProviders } from './build/providers.ts';
import { findNul, findSchemaFault, findWrongMode, schemaKeys } from './build/refused.ts';
import { findSandbox } from './build/sandbox.ts';
import { checkStateStore } from './build/state-store.ts';
import { type Report, report } from './report.ts';

/** An entry that starts a process. */
export interface ExecEntry extends Entry {
  readonly capability: 'tool' | 'eval' | 'hook';
}

/** Every entry that starts a process; `path` is that of the mapping with `command`. */
export function execEntries(document: YamlDocument): ExecEntry[] {
  const tools = entriesAt(document, ['spec', 'tools']).map(
    ({ name, path }): ExecEntry => ({
      capability: 'tool',
      name,
      path: [...path, 'exec'],
      value: valueAt(document, [...path, 'exec']),
    }),
  );
  const evals = entriesAt(document, ['spec', 'evals']).map(
    (entry): ExecEntry => ({ capability: 'eval', ...entry }),
  );
  const hooks = entriesAt(document, ['spec', 'hooks']).map(
    (entry): ExecEntry => ({ capability: 'hook', ...entry }),
  );
  return [...tools, ...evals, ...hooks].filter(({ value }) => isObject(value));
}

/** What no schema can see: names that lead nowhere, ids that stand twice, schemas that cannot be used. */
export function checkReferences(document: YamlDocument, tolerant: boolean): Problem[] {
  const refusable = tolerant ? 'warning' : 'error';
  const reports = [
    ...execEntries(document).flatMap((entry) => [
      ...checkSandbox(document, entry, refusable),
      ...checkNul(document, entry, refusable),
    ]),
    ...checkSelectors(document),
    ...checkProviders(document, refusable),
    ...checkApprovals(document),
    ...checkStateStore(document),
    ...entriesAt(document, ['spec', 'tools']).flatMap((tool) => checkTool(document, tool, refusable)),
  ];
  return reports.map((each) => report(document, each));
}

type Refusable = 'error' | 'warning';
const callsFail = {
  tool: 'a call of the tool fails',
  eval: 'the eval stays unscored',
  hook: 'a filter denies',
};

function checkSandbox(document: YamlDocument, entry: ExecEntry, refusable: Refusable): Report[] {
  const path = [...entry.path, 'sandbox'];
  const name = wordAt(document, path);
  const sandbox = name === undefined ? undefined : findSandbox(document, name);
  if (name === undefined || sandbox === undefined || sandbox.status === 'direct') return [];
  if (sandbox.status === 'unsupported') {
    return [
      {
        severity: 'warning',
        path,
        message: `${sandbox.reason}; it never starts: ${callsFail[entry.capability]}`,
      },
    ];
  }
  const severity = entry.capability === 'hook' ? 'error' : refusable;
  const consequence = severity === 'error' ? '' : `; it never starts: ${callsFail[entry.capability]}`;
  const known = entriesAt(document, ['spec', 'sandboxes']).map((sandboxEntry) => sandboxEntry.name);
  const message = `references a sandbox not declared under spec.sandboxes${consequence}`;
  return [{ severity, path, message, ...suggest(name, known) }];
}

function checkNul(document: YamlDocument, entry: ExecEntry, refusable: Refusable): Report[] {
  const path = findNul(document, entry.path);
  if (path === undefined) return [];
  const consequence = refusable === 'error' ? '' : `; it never starts: ${callsFail[entry.capability]}`;
  return [{ severity: refusable, path, message: `must not contain a NUL character${consequence}` }];
}

function checkSelectors(document: YamlDocument): Report[] {
  const known = entriesAt(document, ['spec', 'selectors']).map(({ name }) => name);
  const references: Path[] = [
    ['spec', 'skills', 'selector'],
    ['spec', 'tool_selector'],
  ];
  return references.flatMap((path): Report[] => {
    const name = wordAt(document, path);
    if (name === undefined || known.includes(name)) return [];
    const message = 'references a selector not declared under spec.selectors';
    return [{ severity: 'error', path, message, ...suggest(name, known) }];
  });
}

function checkTool(document: YamlDocument, tool: Entry, refusable: Refusable): Report[] {
  const consequence = refusable === 'error' ? '' : '; a call of the tool fails';
  const mode = findWrongMode(document, tool.path);
  const wrongMode: Report[] =
    mode === undefined
      ? []
      : [
          {
            severity: refusable,
            path: [...tool.path, 'mode'],
            message: `must be exec where the tool has an exec binding (got: ${mode})${consequence}`,
          },
        ];
  const wrongSchemas = schemaKeys.flatMap((key): Report[] => {
    const path = [...tool.path, key];
    const schema = valueAt(document, path);
    const fault =
      isObject(schema) || typeof schema === 'boolean' ? findSchemaFault(document, path) : undefined;
    return fault === undefined
      ? []
      : [
          {
            severity: refusable,
            path,
            message: `is no JSON Schema that can be used: ${fault}${consequence}`,
          },
        ];
  });
  return [...wrongMode, ...wrongSchemas, ...checkDialect(document, tool.path)];
}

function checkDialect(document: YamlDocument, path: Path): Report[] {
  const [outer, inner] = [
    [...path, 'dialect'],
    [...path, 'exec', 'dialect'],
  ];
  const [own, ofExec] = [textAt(document, outer), textAt(document, inner)];
  const runtime = [...path, 'exec', 'runtime'];
  if (own !== undefined && ofExec !== undefined && own !== ofExec) {
    const message = `must be the same as exec.dialect (got: ${own}, and ${ofExec} there)`;
    return [{ severity: 'error', path: outer, message, hint: 'Remove one of the two.' }];
  }
  if ((ofExec ?? own) !== 'chibi' || textAt(document, runtime) !== 'server') return [];
  const message = 'must be exec: a chibi plugin is started anew for each call';
  return [{ severity: 'error', path: runtime, message }];
}
