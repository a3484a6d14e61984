import { RuntimeError } from '../../../errors.ts';
import { stringifyJson } from '../../../json/json.ts';
import type { Source } from '../../../yaml/source.ts';
import type { ImportedAssertion } from '../../promptfoo/assertions/assertion-model.ts';
import { type ImportedProvider, readProvider } from '../../promptfoo/providers/providers.ts';
import { scriptsNamedIn } from '../../promptfoo/scripts/scripts.ts';
import { renderValue, variablesOf } from '../../promptfoo/template.ts';
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
import { type ArenaFile, type ArenaFiles, leaveIdle, openArena } from './arena-files.ts';
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
  const notes = collectNotes();
  const arena = openArena(file, output, notes);
  requireArena(file, arena.first.kind);
  const prompts = arena.listed('prompt_configs').map(promptOf);
  const scenarios = arena.first.kind === 'Scenario' ? [arena.first] : arena.listed('scenarios');
  const cases = scenarios.flatMap((scenario) => caseOfScenario(scenario) ?? []);
  const tools = arena.listed('tools').flatMap((tool) => {
    const found = toolOf(tool, arena.files);
    return found === undefined ? [] : [found];
  });
  const providers = providersOf(arena, { provider, notes });
  const rows = cases.map((each) => rowOf(each, promptFor(each, prompts)));
  const asked = providers.flatMap((each) => {
    const own = rows.filter(({ given }) => isAsked(given, each, provider !== undefined));
    return own.length === 0 ? [] : [{ provider: each, rows: own }];
  });
  if (asked.length === 0) return toSuiteImport([], cases.length, notes.all());
  const files = filesOf({ name: arena.first.name, rows, tools: Object.fromEntries(tools), asked });
  return toSuiteImport(files, cases.length, notes.all());
}

function requireArena(file: string, kind: string): void {
  if (kind === 'Arena' || kind === 'Scenario') return;
  const hint =
    kind === 'RuntimeConfig'
      ? 'A RuntimeConfig runs as it is: `signalbox validate` says what of it is not used.'
      : 'Import the Arena that names it.';
  throw new RuntimeError('CONFIG_INVALID', `${file} is of kind ${kind}, and no Arena or Scenario`, { hint });
}

/** Whether a scenario asks that provider: those that it names, and all where it names none, or another was named for all. */
function isAsked(
  { providers }: ArenaCase,
  { id, label, name }: ImportedProvider,
  isForAll: boolean,
): boolean {
  return isForAll || providers === undefined || [id, label, name].some((each) => providers.includes(each));
}

function providersOf(
  arena: ArenaFiles,
  { provider, notes }: { readonly provider: string | undefined; readonly notes: Notes },
): readonly ImportedProvider[] {
  const found = arena.listed('providers').flatMap((file) => providerOf(file) ?? []);
  // Where the Arena names some and none of them is carried, no other is asked in their place.
  if (provider === undefined && (found.length > 0 || arena.first.spec.at('providers').isGiven)) return found;
  if (provider === undefined)
    arena.first.spec.note(
      'warning',
      'no model is named: openai:gpt-4.1 answers',
      'Name one with --provider.',
    );
  const given = readProvider(
    notes.open(provider ?? 'openai:gpt-4.1', () => arena.first.root.location),
    { files: arena.files, notes },
  );
  return given === undefined ? [] : [given];
}

/** What a prompt says to the model, and what is asserted of every answer. */
interface ArenaPrompt {
  readonly taskType: string | undefined;
  readonly system: string;
  readonly assertions: readonly ImportedAssertion[];
}

function promptOf({ spec }: ArenaFile): ArenaPrompt {
  leaveIdle(spec, ['version', 'description', 'template_engine', 'tested_models', 'metadata', 'compilation']);
  return {
    taskType: spec.at('task_type').text(),
    system: systemOf(spec),
    assertions: assertionsAt(spec.at('evals')),
  };
}

/** The system prompt with the defaults of its variables. */
function systemOf(spec: Source): string {
  const template = spec.at('system_template').text() ?? '';
  const values: Record<string, unknown> = {};
  for (const variable of spec.at('variables').items()) {
    const name = variable.at('name').text();
    const value = variable.at('default');
    leaveIdle(variable, ['type', 'required', 'description', 'example', 'validation']);
    if (name === undefined) continue;
    if (value.isGiven) values[name] = value.whole();
    else variable.leave(`the variable \`${name}\` of the prompt has no default, and is not filled in`);
  }
  const missing = variablesOf(template)?.filter((name) => !Object.hasOwn(values, name));
  const rendered = missing?.length === 0 ? renderValue(template, values) : undefined;
  if (typeof rendered === 'string') return rendered;
  const hint = 'Fill it in in `cases.jsonl`.';
  spec.at('system_template').note('error', 'a template that is not filled in stays as it is', hint);
  return template;
}

/** The prompt that a scenario is for, by its type of task; undefined, with a note, where there are prompts and none is for it. */
function promptFor({ taskType, spec }: ArenaCase, prompts: readonly ArenaPrompt[]): ArenaPrompt | undefined {
  const named = prompts.find((prompt) => prompt.taskType === taskType);
  if (named === undefined && prompts.length > 0)
    spec.note(
      'error',
      `no prompt is for the task type ${String(taskType)}: the scenario has no system prompt`,
    );
  return named;
}

interface ArenaRow {
  readonly given: ArenaCase;
  readonly system: string;
  readonly assertions: readonly ImportedAssertion[];
}

function rowOf(given: ArenaCase, prompt: ArenaPrompt | undefined): ArenaRow {
  const assertions = [...given.assertions, ...(prompt?.assertions ?? [])];
  return { given, system: prompt?.system ?? '', assertions };
}

interface ArenaSuite {
  readonly name: string;
  readonly rows: readonly ArenaRow[];
  readonly tools: Mapping;
  readonly asked: readonly AskedProvider[];
}

/** A provider with the scenarios that it is asked. */
interface AskedProvider {
  readonly provider: ImportedProvider;
  readonly rows: readonly ArenaRow[];
}

function filesOf({ name, rows, tools, asked }: ArenaSuite): readonly ImportedFile[] {
  const providers = asked.map(({ provider }) => provider);
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
  const suites = asked.flatMap(({ provider, rows: own }) => {
    const plan = planEvals(own);
    const dataset = own.length === rows.length ? 'cases.jsonl' : `cases-${provider.name}.jsonl`;
    const lines = own.map(({ given, system }, index) =>
      stringifyJson({ id: given.id, system, question: given.question, checks: plan.checks[index] }),
    );
    return [
      { name: dataset, text: lines.map((line) => `${line}\n`).join('') },
      suiteFile({ provider, dataset, evals: plan.evals, tools: Object.keys(tools) }),
    ];
  });
  const files = [
    { name: 'runtime.yaml', text: runtimeYamlOf(runtime) },
    ...scriptsNamedIn(yamlOf(runtime)),
    ...suites,
  ];
  // Providers that are asked all scenarios share their cases.
  return [...new Map(files.map((file) => [file.name, file])).values()];
}

interface SuiteParts {
  readonly provider: ImportedProvider;
  readonly dataset: string;
  readonly evals: readonly Mapping[];
  readonly tools: readonly string[];
}

function suiteFile({ provider, dataset, evals, tools }: SuiteParts): ImportedFile {
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
      dataset: { path: dataset },
      subject: isTool ? tool : { chat },
      case: { id: '${case.id}', ...(isTool && { content: '${subject.result.text}' }) },
      evals,
    },
  };
  return { name: `${provider.name}.suite.yaml`, text: yamlOf(suite) };
}
