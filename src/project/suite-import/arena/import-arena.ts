import { isObject, stringifyJson } from '../../../json/json.ts';
import type { ImportedCase } from '../../promptfoo/cases/cases.ts';
import { type ImportedProvider, readProvider } from '../../promptfoo/providers/providers.ts';
import { scriptsNamedIn } from '../../promptfoo/scripts/scripts.ts';
import { renderValue } from '../../promptfoo/template.ts';
import { planEvals } from '../../promptfoo/written/evals.ts';
import { collectNotes, type Notes } from '../notes.ts';
import {
  type ImportedFile,
  runtimeYamlOf,
  type SuiteImport,
  toSuiteImport,
  yamlOf,
} from '../suite-import.ts';
import { type ArenaCase, assertionsAt, caseOfScenario } from './arena-case.ts';
import { type ArenaFile, type ArenaFiles, openArena } from './arena-files.ts';
import { providerOf, toolOf } from './arena-runtime.ts';

interface ArenaOptions {
  readonly output: string;
  /** Who answers, for a scenario by itself. */
  readonly provider: string | undefined;
}

type Mapping = Readonly<Record<string, unknown>>;

/**
 * Makes a suite for each provider of an Arena of PromptKit’s, or of one of its scenarios: first turns, assertions and
 * tools that are programs. Throws FILE_UNREADABLE and CONFIG_INVALID of the file itself.
 */
export function importArena(file: string, { output, provider }: ArenaOptions): SuiteImport {
  const start = { file, line: 1, column: 1 };
  const notes = collectNotes({ positionOf: () => start });
  const arena = openArena(file, output, notes);
  noteKeys(arena.first);
  const prompts = arena.listed('prompt_configs');
  const scenarios = arena.first.kind === 'Scenario' ? [arena.first] : arena.listed('scenarios');
  const cases = scenarios.flatMap((scenario) => caseOfScenario(scenario) ?? []);
  const tools = arena.listed('tools').flatMap((tool) => {
    const found = toolOf(tool, arena.files);
    return found === undefined ? [] : [found];
  });
  const providers = providersOf(arena, { provider, notes });
  if (cases.length === 0 || providers.length === 0) return toSuiteImport([], cases.length, notes.all());
  const rows = cases.map((each) => rowOf(each, promptFor(each, prompts)));
  const files = filesOf({ name: arena.first.name, rows, tools: Object.fromEntries(tools), providers });
  return toSuiteImport(files, cases.length, notes.all());
}

function noteKeys(first: ArenaFile): void {
  const known = ['prompt_configs', 'providers', 'scenarios', 'tools'];
  if (first.kind === 'Scenario') return;
  for (const key of Object.keys(first.spec).filter((each) => !known.includes(each))) {
    const isIdle = key === 'defaults';
    first.note(
      isIdle ? 'note' : 'error',
      ['spec', key],
      isIdle ? '`defaults` are for PromptKit’s own command' : `\`${key}\` is not carried`,
    );
  }
}

function providersOf(
  arena: ArenaFiles,
  { provider, notes }: { readonly provider: string | undefined; readonly notes: Notes },
): readonly ImportedProvider[] {
  const found = arena.listed('providers').flatMap((file) => providerOf(file) ?? []);
  if (found.length > 0 && provider === undefined) return found;
  if (provider === undefined)
    arena.first.note('warning', [], 'no model is named: openai:gpt-4.1 answers', 'Name one with --provider.');
  const given = readProvider(provider ?? 'openai:gpt-4.1', [], { files: arena.files, notes });
  return given === undefined ? [] : [given];
}

/** The prompt that a scenario is for, by its type of task; the only one, where there is one. */
function promptFor({ taskType }: ArenaCase, prompts: readonly ArenaFile[]): ArenaFile | undefined {
  const [first, second] = prompts;
  const named = prompts.find(({ spec }) => spec['task_type'] === taskType);
  return named ?? (second === undefined ? first : undefined);
}

interface ArenaRow {
  readonly given: ArenaCase;
  readonly system: string;
  readonly asserted: ImportedCase;
}

function rowOf(given: ArenaCase, prompt: ArenaFile | undefined): ArenaRow {
  const shared = prompt === undefined ? [] : assertionsAt(prompt, prompt.spec['evals'], ['spec', 'evals']);
  const asserted = {
    id: given.id,
    description: undefined,
    vars: {},
    assertions: [...given.assertions, ...shared],
    threshold: undefined,
    asks: {},
  };
  return { given, system: prompt === undefined ? '' : systemOf(prompt), asserted };
}

/** The system prompt with the defaults of its variables. */
function systemOf(prompt: ArenaFile): string {
  const template = prompt.spec['system_template'];
  if (typeof template !== 'string') return '';
  const list: readonly unknown[] = Array.isArray(prompt.spec['variables']) ? prompt.spec['variables'] : [];
  const values = Object.fromEntries(
    list.flatMap((each) => (isObject(each) ? [[String(each['name']), each['default'] ?? ''] as const] : [])),
  );
  const rendered = renderValue(template, values);
  if (typeof rendered === 'string') return rendered;
  prompt.note(
    'error',
    ['spec', 'system_template'],
    'a template that has more than names in it stays as it is',
  );
  return template;
}

interface ArenaSuite {
  readonly name: string;
  readonly rows: readonly ArenaRow[];
  readonly tools: Mapping;
  readonly providers: readonly ImportedProvider[];
}

function filesOf({ name, rows, tools, providers }: ArenaSuite): readonly ImportedFile[] {
  const plan = planEvals(rows.map(({ asserted }) => asserted));
  const lines = rows.map(({ given, system }, index) =>
    stringifyJson({ id: given.id, system, question: given.question, checks: plan.checks[index] }),
  );
  const models = providers.filter(({ kind }) => kind !== 'tool').map(({ entry }) => entry);
  const programs = Object.fromEntries(
    providers.flatMap(({ kind, name: id, entry }) => (kind === 'tool' ? [[id, entry] as const] : [])),
  );
  const all = { ...tools, ...programs };
  const runtime = {
    apiVersion: 'signalbox/v1',
    kind: 'RuntimeConfig',
    metadata: { name },
    spec: {
      ...(models.length > 0 && { providers: models }),
      ...(Object.keys(all).length > 0 && { tools: all }),
    },
  };
  return [
    { name: 'runtime.yaml', text: runtimeYamlOf(runtime) },
    { name: 'cases.jsonl', text: lines.map((line) => `${line}\n`).join('') },
    ...scriptsNamedIn(yamlOf(runtime)),
    ...providers.map((provider) => suiteFile(provider, plan.evals, Object.keys(tools))),
  ];
}

function suiteFile(
  provider: ImportedProvider,
  evals: readonly Mapping[],
  tools: readonly string[],
): ImportedFile {
  const chat = {
    provider: provider.name,
    system: '${case.system}',
    messages: [{ role: 'user', content: '${case.question}' }],
    ...(tools.length > 0 && { tools }),
  };
  const tool = { tool: provider.name, args: { prompt: '${case.question}', vars: {} } };
  const isTool = provider.kind === 'tool';
  const suite = {
    apiVersion: 'signalbox/v1',
    kind: 'EvalSuite',
    metadata: { name: provider.name },
    spec: {
      runtime: './runtime.yaml',
      dataset: { path: 'cases.jsonl' },
      subject: isTool ? tool : { chat },
      case: { id: '${case.id}', ...(isTool && { content: '${subject.result.text}' }) },
      evals,
    },
  };
  return { name: `${provider.name}.suite.yaml`, text: yamlOf(suite) };
}
