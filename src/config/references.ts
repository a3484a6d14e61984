import { isObject } from '../base/json/json.ts';
import { suggest } from '../base/text/suggest.ts';
import type { Path, YamlDocument } from '../base/yaml/document.ts';
import type { Finding } from '../base/yaml/finding.ts';
import {
  choiceAt,
  entriesAt,
  integerAt,
  itemsAt,
  type MappingEntry,
  nonEmptyTextAt,
  textAt,
  valueAt,
} from '../base/yaml/read.ts';
import { foreignNames, toolDialectOf, toolDialects } from '../dialects/registry.ts';
import { isHostEntry } from '../process/web.ts';
import { checkApprovals, checkSharedDeciders } from './approval.ts';
import { checkProviders } from './build/providers.ts';
import { findNul, findSchemaFault, findWrongMode, schemaKeys } from './build/refused.ts';
import { checkGateway } from './gateway.ts';
import { checkEndpoints, checkMatches } from './hook.ts';
import { checkMcp } from './mcp.ts';
import { checkMcpServers, mcpServerPrograms } from './mcp-servers.ts';
import { checkNotify } from './notify.ts';
import { checkPii } from './pii.ts';
import { findSandbox, findSandboxFaults } from './sandbox/read.ts';
import { checkStateStore } from './store.ts';
import { checkTelemetry } from './telemetry.ts';

export interface ExecEntry extends MappingEntry {
  readonly capability: 'tool' | 'eval' | 'hook';
}

/** `path` is that of the mapping with `command`. */
export function execEntries(document: YamlDocument): readonly ExecEntry[] {
  const known = entriesOf.get(document) ?? findExecEntries(document);
  entriesOf.set(document, known);
  return known;
}

const entriesOf = new WeakMap<YamlDocument, readonly ExecEntry[]>();

function findExecEntries(document: YamlDocument): ExecEntry[] {
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
  const servers = mcpServerPrograms(document).map((entry): ExecEntry => ({ capability: 'tool', ...entry }));
  return [...tools, ...evals, ...hooks, ...told, ...servers].filter(({ value }) => isObject(value));
}

/** Reports undeclared names, duplicate ids and unusable JSON Schemas. */
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
    ...checkMcp(document),
    ...checkTelemetry(document),
    ...checkMcpServers(document, toleratedSeverity),
    ...checkPrivateHosts(document),
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

function checkPrivateHosts(document: YamlDocument): Finding[] {
  return itemsAt(document, ['spec', 'private_hosts']).flatMap((path): Finding[] => {
    const entry = textAt(document, path);
    if (entry === undefined || isHostEntry(entry)) return [];
    const message = 'it is not the name of a host, an address or a network';
    return [
      { severity: 'error', path, message, hint: 'Write it like *.corp.example, 10.1.2.3 or 10.0.0.0/8.' },
    ];
  });
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
            message: `must be exec if the tool has an exec binding (got: ${mode})${consequence}`,
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
            message: `is not a usable JSON Schema: ${fault}${consequence}`,
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

/** Refuses limits that this system cannot enforce; `path` is that of the mapping with `limits`. */
export function checkLimits(
  document: YamlDocument,
  path: Path,
  platform: NodeJS.Platform = process.platform,
): Finding[] {
  if (platform === 'linux') return [];
  return linuxOnly
    .map((key) => [...path, 'limits', key])
    .filter((key) => integerAt(document, key) !== undefined)
    .map((key) => ({
      severity: 'error',
      path: key,
      message: `cannot be enforced on ${platform}`,
      hint: 'Only Linux counts the memory and the processes of everything that a process starts.',
    }));
}

const linuxOnly = ['memory_mb', 'processes'];

/** Refuses warm processes for foreign dialects; `path` is that of the mapping with `command`. */
function checkWarm(document: YamlDocument, path: Path): Finding[] {
  const key = [...path, 'warm'];
  if (integerAt(document, key) === undefined) return [];
  const outer =
    path[1] === 'tools' ? choiceAt(document, [...path.slice(0, -1), 'dialect'], toolDialects) : undefined;
  const dialect =
    choiceAt(document, [...path, 'dialect'], foreignNames) ?? foreignNames.find((name) => name === outer);
  if (dialect === undefined) return [];
  return [
    {
      severity: 'error',
      path: key,
      message: `cannot be a number with dialect ${dialect}`,
      hint: 'Its programs get their own variables with each event, or are lines for a shell, whose files cannot be watched for changes.',
    },
  ];
}

type Severity = 'error' | 'warning';
type Capability = keyof typeof consequenceOf;

const consequenceOf = {
  tool: 'a call of the tool fails',
  eval: 'the eval stays unscored',
  hook: 'a filter denies',
} as const;

function checkSandboxes(document: YamlDocument, tolerated: Severity): Finding[] {
  const own = entriesAt(document, ['spec', 'sandboxes']).flatMap(({ path }) =>
    findSandboxFaults(document, path).map((fault): Finding => {
      if (tolerated === 'error') return fault;
      return {
        ...fault,
        severity: 'warning',
        message: `${fault.message}; entries that name the sandbox never start`,
      };
    }),
  );
  const imports = itemsAt(document, ['spec', 'imports']).flatMap((path) =>
    checkSandbox(document, { capability: 'hook', path }, tolerated),
  );
  return [...own, ...imports];
}

function checkSandbox(
  document: YamlDocument,
  entry: { readonly capability: Capability; readonly path: Path },
  tolerated: Severity,
): Finding[] {
  const path = [...entry.path, 'sandbox'];
  const name = nonEmptyTextAt(document, path);
  if (name === undefined) return [];
  const neverStarts = `it never starts: ${consequenceOf[entry.capability]}`;
  const sandbox = findSandbox(document, name);
  if (sandbox === undefined) {
    const severity = entry.capability === 'hook' ? 'error' : tolerated;
    const known = entriesAt(document, ['spec', 'sandboxes']).map((declared) => declared.name);
    const consequence = severity === 'error' ? '' : `; ${neverStarts}`;
    const message = `the sandbox "${name}" is not declared under spec.sandboxes${consequence}`;
    const hint =
      known.length === 0
        ? `Declare it, such as \`sandboxes: {${name}: {mode: bubblewrap}}\`, or remove \`sandbox\`.`
        : undefined;
    return [{ severity, path, message, hint, ...suggest(name, known, 'sandboxes') }];
  }
  if (sandbox.mode !== 'refused') return [];
  return [{ severity: 'warning', path, message: `${sandbox.reason}; ${neverStarts}` }];
}
