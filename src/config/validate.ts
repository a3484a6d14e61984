import { takesInlineCode } from '../base/files/script.ts';
import { isObject } from '../base/json/json.ts';
import { longestMs } from '../base/time/async.ts';
import { locateViolation, withoutEchoes } from '../base/yaml/check.ts';
import type { Path, YamlDocument } from '../base/yaml/document.ts';
import { findExpressionIn, textsAt } from '../base/yaml/expressions.ts';
import type { Finding } from '../base/yaml/finding.ts';
import { type Problem, sortProblems } from '../base/yaml/problem.ts';
import {
  entriesAt,
  execKeyPatterns,
  isAt,
  itemsAt,
  type MappingEntry,
  textAt,
  valueAt,
} from '../base/yaml/read.ts';
import { findViolations, type Violation } from '../base/yaml/violation.ts';
import { checkForeignEntries } from './build/foreign-entries.ts';
import { checkProviderTypes } from './build/providers.ts';
import { type CommandLookup, checkCommands } from './command/commands.ts';
import { withoutReferences } from './environment/fill.ts';
import { foreignAt } from './exec.ts';
import { unusedProviderKeys, whyProviderRefused } from './provider.ts';
import { checkReferences, type ExecEntry, execEntries } from './references.ts';
import { locateFinding, promptkitVersion, runtimeSchema, unusedSections } from './schema.ts';
import { toolSchema } from './tool.ts';
import { wordViolation } from './words.ts';

/** `written`: before variables were filled in. `unusable`: the severity of faults that let the rest open. */
export function validate(
  document: YamlDocument,
  lookup: CommandLookup,
  {
    written = document,
    unusable,
  }: { readonly written?: YamlDocument; readonly unusable: 'error' | 'warning' },
): Problem[] {
  const tolerant = valueAt(document, ['apiVersion']) === promptkitVersion;
  const documentProblems = document.problems.map((problem) =>
    tolerant && problem === document.secondDocument ? asWarning(problem) : problem,
  );
  if (document.value === undefined) return sortProblems(documentProblems);
  const violations = findViolations(document.value, runtimeSchema);
  const uses = [
    ...checkProviderTypes(document, unusable),
    ...findUnfilledVariables(written, unusable, tolerant ? undefined : withoutReferences),
  ];
  const worded = violations.map((violation) => ({
    violation,
    problems: toProblems(document, violation, tolerant),
  }));
  // A tolerated violation must not hide other problems.
  const refused = worded.flatMap(({ violation, problems }) =>
    problems.some(({ severity }) => severity === 'error') ? [violation] : [],
  );
  const beyond = [...checkReferences(document, tolerant), ...findUnused(document)];
  return sortProblems([
    ...documentProblems,
    ...worded.flatMap(({ problems }) => problems),
    ...withoutEchoes(document, beyond, { schema: runtimeSchema, violations: refused }).map((each) =>
      locateFinding(document, each),
    ),
    ...checkForeignEntries(document, lookup),
    ...uses.map((each) => locateFinding(document, each)),
    ...checkCommands(document, lookup),
  ]);
}

function asWarning(problem: Problem): Problem {
  return { ...problem, severity: 'warning', message: `${problem.message}; it is ignored` };
}

function toProblems(document: YamlDocument, violation: Violation, tolerant: boolean): Problem[] {
  const worded = wordViolation(document, violation);
  const problem = locateViolation(document, worded, runtimeSchema);
  if (!tolerant || worded.isStrict) return [problem];
  const tolerance = tolerate(document, violation);
  if (tolerance.as === 'error') return [problem];
  if (tolerance.as === 'fine') return [];
  return [{ ...problem, severity: 'warning', message: `${problem.message}; ${tolerance.reading}` }];
}

/**
 * Reports `${…}` where no variable is expanded. In arguments, which may contain code, it is only a warning. `strip`
 * removes the references that are filled in.
 */
function findUnfilledVariables(
  document: YamlDocument,
  unusable: 'error' | 'warning',
  strip: (text: string) => string = (text) => text,
): Finding[] {
  const owned = execEntries(document).flatMap((entry) => textsOfEntry(document, entry));
  const others = ['providers', 'imports'].flatMap((key) => itemsAt(document, ['spec', key]));
  const declared = [...others, ['spec', 'state_store']].flatMap((path) =>
    textsAt(document, path, [[...path, 'additional_config']]),
  );
  return [...owned, ...declared].flatMap(({ path, text }): Finding[] => {
    const expression = findExpressionIn(strip(text));
    if (expression === undefined) return [];
    const isArgument = isAt(path, 'spec.tools.*.exec.args.*', 'spec.evals.*.args.*', 'spec.hooks.*.args.*');
    const message = `\`${expression}\` is not replaced here; it stays as it is written`;
    return [{ severity: isArgument ? 'warning' : unusable, path, message, hint: hintAt(path) }];
  });
}

function textsOfEntry(document: YamlDocument, { path }: ExecEntry): ReturnType<typeof textsAt> {
  const variables = textsAt(document, [...path, 'env']);
  if (foreignAt(document, path) !== undefined) return variables;
  const args = itemsAt(document, [...path, 'args']);
  const isCode = takesInlineCode(
    textAt(document, [...path, 'command']) ?? '',
    args.map((item) => textAt(document, item) ?? ''),
  );
  const keys = ['command', 'cwd', ...(isCode ? [] : ['args'])];
  return [...variables, ...keys.flatMap((key) => textsAt(document, [...path, key]))];
}

function hintAt(path: Path): string {
  const key = path.at(-2) === 'env' || path.at(-2) === 'args' ? path.at(-2) : path.at(-1);
  switch (key) {
    case 'env':
      return 'Name the variable alone, as in `env: [HOME_PAGE]`: its value is passed on.';
    case 'args':
      return 'Pass the variable on with `env: [NAME]`, and read it in the program.';
    case 'api_key':
      return 'Write `credential: {credential_env: NAME}`.';
    case 'command':
    case 'cwd':
      return 'Write the path itself; a relative one starts at the config file’s folder.';
    default:
      return 'Write the value itself.';
  }
}

function findUnused(document: YamlDocument): Finding[] {
  const reports = [
    ...unusedSections.flatMap((key) => unusedAt(document, ['spec', key])),
    ...unusedAt(document, ['spec', 'logging', 'modules']),
    ...itemsAt(document, ['spec', 'providers']).flatMap((path) => unusedInProvider(document, path)),
    ...entriesAt(document, ['spec', 'tools']).flatMap((tool) => unusedInTool(document, tool)),
    ...entriesAt(document, ['spec', 'hooks']).flatMap((hook) => noteDialect(document, hook)),
  ];
  return reports.map((each) => ({ ...each, atKey: true }));
}

function unusedAt(document: YamlDocument, path: Finding['path']): Finding[] {
  const value = valueAt(document, path);
  return value === undefined || value === null
    ? []
    : [{ severity: 'warning', path, message: 'is accepted and not used' }];
}

function unusedInProvider(document: YamlDocument, path: Finding['path']): Finding[] {
  const refused = whyProviderRefused(document, path);
  const guilty = isObject(valueAt(document, [...path, 'platform'])) ? 'platform' : 'role';
  const message = `is refused when it is used: ${refused}`;
  const warning: Finding = {
    severity: 'warning',
    path: [...path, guilty],
    message: `the provider ${message}`,
  };
  const keys = [...unusedProviderKeys.map((key) => [key]), ['defaults', 'prompt_caching']];
  return [
    ...(refused === undefined ? [] : [warning]),
    ...keys.flatMap((key) => unusedAt(document, [...path, ...key])),
  ];
}

/** PromptKit's keys accept any value here. */
const unusedToolKeys = Object.entries(toolSchema.properties).flatMap(([key, field]) =>
  'type' in field ? [] : [key],
);

function unusedInTool(document: YamlDocument, { name, path }: MappingEntry): Finding[] {
  const unused = unusedToolKeys.flatMap((key) => unusedAt(document, [...path, key]));
  const ownName = valueAt(document, [...path, 'name']);
  if (typeof ownName === 'string' && ownName !== '' && ownName !== name) {
    unused.push({
      severity: 'warning',
      path: [...path, 'name'],
      message: `is not used: the tool is called ${name}`,
    });
  }
  if (isObject(valueAt(document, [...path, 'exec']))) return unused;
  const hint = 'Add `exec: {command: …}` to make it run.';
  const message = 'has no exec binding: it is listed, but a call of it fails';
  return [{ severity: 'warning', path, message, hint, basis: [...path, 'exec'] }, ...unused];
}

/** PromptKit's documentation and program use different payload keys. A hook that finds none usually allows. */
function noteDialect(document: YamlDocument, { path, value }: MappingEntry): Finding[] {
  if (valueAt(document, ['apiVersion']) !== promptkitVersion || !isObject(value)) return [];
  if (value['hook'] === 'eval' || (value['dialect'] !== undefined && value['dialect'] !== null)) return [];
  return [
    {
      severity: 'note',
      path,
      message: 'names no dialect, so its payload has snake_case keys',
      hint: 'Set `dialect: promptkit-go` if the hook reads keys such as `Messages`, or `dialect: promptkit` to confirm.',
    },
  ];
}

type Tolerance =
  | { readonly as: 'error' }
  /** PromptKit and Signalbox read it alike. */
  | { readonly as: 'fine' }
  | { readonly as: 'warning'; readonly reading: string };

/** The assumed value is the safe one, and the config is built with it. */
function tolerate(document: YamlDocument, violation: Violation): Tolerance {
  const { kind, path, keyword, params } = violation;
  // PromptKit has no limits, and an ignored limit would not apply.
  if (isAt(path, ...neverPassedOver)) return error;
  if (kind === 'key') return warning('it is ignored');
  if (isAt(path, ...describing)) return warning('it is ignored');
  if (isAt(path, 'spec.mcp_servers.*', 'spec.mcp_servers.*.name')) return warning('the server is left out');
  if (isInSandbox(violation)) return warning('entries that name the sandbox never start');
  if (kind === 'missing') return isToolCommand(violation) ? warning('a call of the tool fails') : error;
  const value = valueAt(document, path);
  if (typeof value === 'object' && value !== null) return tolerateNested(violation);
  const reading = readScalar(document, violation, value);
  if (reading !== undefined) return warning(reading);
  if (value === null) return isAt(path, ...neverNull) ? error : fine;
  if (value === '' && isAt(path, ...emptyIsAbsent)) return fine;
  const takesText = keyword === 'type' && [params['type']].flat().includes('string');
  return takesText && typeof value !== 'string' ? fine : error;
}

const error: Tolerance = { as: 'error' };
const fine: Tolerance = { as: 'fine' };
const warning = (reading: string): Tolerance => ({ as: 'warning', reading });

const neverPassedOver = ['limits', 'limits.*', 'nice'].flatMap((key) => [
  ...execKeyPatterns(key),
  `spec.mcp_servers.*.${key}`,
  `spec.defaults.${key}`,
]);

/** PromptKit has no such keys and ignores them. */
const describing = ['title', 'annotations', 'annotations.*', 'mcp', 'mcp.*'].map(
  (key) => `spec.tools.*.${key}`,
);

const neverNull = ['spec.hooks.*', 'spec.evals.*', 'spec.providers.*'];

const emptyIsAbsent = [
  ...execKeyPatterns('sandbox'),
  'spec.providers.*.id',
  'spec.providers.*.request_timeout',
  'spec.state_store.type',
  'spec.state_store.path',
  'spec.logging.defaultLevel',
  'spec.logging.format',
];

function isInSandbox({ path }: Violation): boolean {
  return path[0] === 'spec' && path[1] === 'sandboxes' && path.length > 3 && path[3] !== 'mode';
}

function isToolCommand({ path }: Violation): boolean {
  return isAt(path, 'spec.tools.*.exec.command');
}

function tolerateNested({ path, keyword }: Violation): Tolerance {
  if (isAt(path, 'spec.hooks.*.phases') && keyword === 'minItems') return warning(everyPhase);
  return isToolSchema(path) ? warning('a call of the tool fails') : error;
}

function isToolSchema(path: Violation['path']): boolean {
  return isAt(path, 'spec.tools.*.input_schema', 'spec.tools.*.output_schema');
}

const everyPhase = 'the hook runs at every phase of its type';

/** The restrictive value of a scalar that PromptKit's loader would misread; undefined if it would not. */
function readScalar(document: YamlDocument, violation: Violation, value: unknown): string | undefined {
  const { path } = violation;
  if (isAt(path, 'spec.hooks.*.phases.*')) return everyPhase;
  if (isToolCommand(violation) && (value === '' || value === null)) return 'a call of the tool fails';
  if (value === null) return undefined;
  if (isToolSchema(path)) return 'a call of the tool fails';
  if (value !== '' && isAt(path, 'spec.providers.*.request_timeout')) return 'the default applies';
  if (value !== '' && isAt(path, 'spec.state_store.type')) return 'whatever needs the store fails';
  if (isAt(path, 'spec.hooks.*.mode')) return `it is read as ${defaultMode(document, path)}`;
  if (isAt(path, ...execKeyPatterns('runtime'))) return 'it is read as exec';
  if (isAt(path, ...execKeyPatterns('env.*'))) return 'it is left out';
  return typeof value === 'number' && Number.isFinite(value) ? readNumber(path, value) : undefined;
}

function defaultMode(document: YamlDocument, path: Violation['path']): string {
  const hook = textAt(document, [...path.slice(0, -1), 'hook']);
  return hook === 'session' || hook === 'eval' ? 'observe' : 'filter';
}

function readNumber(path: Violation['path'], value: number): string | undefined {
  if (isAt(path, 'spec.providers.*.defaults.max_tokens')) {
    return value < 1 ? 'the default applies' : `it is read as ${Math.trunc(value)}`;
  }
  if (!isAt(path, ...execKeyPatterns('timeout_ms'), 'spec.tools.*.timeout_ms')) return undefined;
  const whole = Math.min(Math.trunc(value), longestMs);
  return whole < 1 ? 'the default applies' : `it is read as ${whole}`;
}
