import { isObject } from '../base/json/json.ts';
import { suggest } from '../base/text/suggest.ts';
import type { Path, YamlDocument } from '../base/yaml/document.ts';
import type { Finding } from '../base/yaml/finding.ts';
import {
  choiceAt,
  entriesAt,
  itemsAt,
  type MappingEntry,
  nonEmptyTextAt,
  textAt,
  valueAt,
} from '../base/yaml/read.ts';
import { toolDialectOf, toolDialects } from '../dialects/registry.ts';
import { checkApprovals } from './build/approval.ts';
import { checkSharedDeciders } from './build/approvals.ts';
import { checkEndpoints } from './build/endpoint.ts';
import { checkGateway } from './build/gateway-check.ts';
import { checkMatches } from './build/match.ts';
import { checkNotify } from './build/notify.ts';
import { checkPii } from './build/pii.ts';
import { checkProviders } from './build/providers.ts';
import { findNul, findSchemaFault, findWrongMode, schemaKeys } from './build/refused.ts';
import { checkStateStore } from './build/state-store.ts';
import { checkLimits } from './limits.ts';
import { checkSandbox, checkSandboxes, consequenceOf } from './sandbox/check.ts';
import { checkWarm } from './warm.ts';

/** An entry that starts a process. */
export interface ExecEntry extends MappingEntry {
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
  const told = itemsAt(document, ['spec', 'notify']).flatMap((path, index): ExecEntry[] => {
    const value = valueAt(document, path);
    const isProgram = isObject(value) && value['command'] !== undefined;
    return isProgram ? [{ capability: 'hook', name: `notify[${index}]`, path, value }] : [];
  });
  return [...tools, ...evals, ...hooks, ...told].filter(({ value }) => isObject(value));
}

/** Checks beyond the schema: undeclared names, duplicate ids, unusable JSON Schemas. */
export function checkReferences(document: YamlDocument, tolerant: boolean): Finding[] {
  const toleratedSeverity = tolerant ? 'warning' : 'error';
  return [
    ...execEntries(document).flatMap((entry) => [
      ...checkSandbox(document, entry, toleratedSeverity),
      ...checkNul(document, entry, toleratedSeverity),
      ...checkWarm(document, entry.path),
      ...checkLimits(document, entry.path),
    ]),
    ...checkSandboxes(document, toleratedSeverity),
    ...checkLimits(document, ['spec', 'defaults']),
    ...checkSelectors(document),
    ...checkProviders(document, toleratedSeverity),
    ...checkApprovals(document),
    ...checkSharedDeciders(document),
    ...checkMatches(document),
    ...checkEndpoints(document),
    ...checkNotify(document),
    ...checkStateStore(document),
    ...checkGateway(document),
    ...checkPii(document),
    ...entriesAt(document, ['spec', 'tools']).flatMap((tool) => checkTool(document, tool, toleratedSeverity)),
  ];
}

type ToleratedSeverity = 'error' | 'warning';

function checkNul(document: YamlDocument, entry: ExecEntry, toleratedSeverity: ToleratedSeverity): Finding[] {
  const path = findNul(document, entry.path);
  if (path === undefined) return [];
  const consequence =
    toleratedSeverity === 'error' ? '' : `; it never starts: ${consequenceOf[entry.capability]}`;
  return [{ severity: toleratedSeverity, path, message: `must not contain a NUL character${consequence}` }];
}

function checkSelectors(document: YamlDocument): Finding[] {
  const known = entriesAt(document, ['spec', 'selectors']).map(({ name }) => name);
  const references: Path[] = [
    ['spec', 'skills', 'selector'],
    ['spec', 'tool_selector'],
  ];
  return references.flatMap((path): Finding[] => {
    const name = nonEmptyTextAt(document, path);
    if (name === undefined || known.includes(name)) return [];
    const message = 'references a selector not declared under spec.selectors';
    return [{ severity: 'error', path, message, ...suggest(name, known) }];
  });
}

function checkTool(
  document: YamlDocument,
  tool: MappingEntry,
  toleratedSeverity: ToleratedSeverity,
): Finding[] {
  const consequence = toleratedSeverity === 'error' ? '' : '; a call of the tool fails';
  const mode = findWrongMode(document, tool.path);
  const wrongMode: Finding[] =
    mode === undefined
      ? []
      : [
          {
            severity: toleratedSeverity,
            path: [...tool.path, 'mode'],
            message: `must be exec where the tool has an exec binding (got: ${mode})${consequence}`,
          },
        ];
  const wrongSchemas = schemaKeys.flatMap((key): Finding[] => {
    const path = [...tool.path, key];
    const schema = valueAt(document, path);
    const fault =
      isObject(schema) || typeof schema === 'boolean' ? findSchemaFault(document, path) : undefined;
    return fault === undefined
      ? []
      : [
          {
            severity: toleratedSeverity,
            path,
            message: `is no JSON Schema that can be used: ${fault}${consequence}`,
          },
        ];
  });
  return [...wrongMode, ...wrongSchemas, ...checkDialect(document, tool.path)];
}

function checkDialect(document: YamlDocument, path: Path): Finding[] {
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
  const dialect = choiceAt(document, ofExec === undefined ? outer : inner, toolDialects);
  const fault = dialect && toolDialectOf(dialect)?.serverFault;
  if (fault === undefined || textAt(document, runtime) !== 'server') return [];
  const message = `must be exec: ${fault}`;
  return [{ severity: 'error', path: runtime, message }];
}
