import { dirname, isAbsolute, join, posix, resolve } from 'node:path';
import { RuntimeError } from '../../../base/errors.ts';
import { isObject } from '../../../base/json/json.ts';
import { asDraft07 } from '../../../base/yaml/ajv.ts';
import { parseDocument, type YamlDocument } from '../../../base/yaml/document.ts';
import { omitUndefined } from '../../../base/yaml/present.ts';
import { requireLoaded } from '../../../base/yaml/problem.ts';
import type { Source } from '../../../base/yaml/source.ts';
import { findCheck } from '../../../builtins/checks/registry.ts';
import { scriptsNamedIn } from '../suite/programs.ts';
import { type ImportedProvider, readProvider, slugOf } from '../suite/providers.ts';
import {
  collectNotes,
  type Notes,
  openSourceFiles,
  type SourceFiles,
  textOfFile,
} from '../suite/source-files.ts';
import {
  askedProvider,
  datasetFile,
  type ImportedAssertion,
  type ImportedFile,
  planEvals,
  programsOf,
  runtimeFile,
  type SuiteImport,
  suiteFile,
  toSuiteImport,
} from '../suite/suite.ts';
import { renderValue, variablesOf } from '../suite/template.ts';

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
  /** The providers, each with the scenarios that it is asked. */
  readonly asked: readonly { readonly provider: ImportedProvider; readonly rows: readonly ArenaRow[] }[];
}

function filesOf({ name, rows, tools, asked }: ArenaSuite): readonly ImportedFile[] {
  const providers = asked.map(({ provider }) => provider);
  const runtime = runtimeFile({ name, providers, tools: { ...tools, ...programsOf(providers) } });
  const names = Object.keys(tools);
  const suites = asked.flatMap(({ provider, rows: own }) => {
    const plan = planEvals(own);
    const dataset = own.length === rows.length ? 'cases.jsonl' : `cases-${provider.name}.jsonl`;
    const cases = own.map(({ given, system }, index) => ({
      id: given.id,
      system,
      question: given.question,
      checks: plan.checks[index],
    }));
    const { subject, ...answer } = askedProvider(provider, {
      system: '${case.system}',
      messages: [{ role: 'user', content: '${case.question}' }],
      ...(names.length > 0 && { tools: names }),
    });
    const spec = { dataset, subject, case: { id: '${case.id}', ...answer }, evals: plan.evals };
    return [datasetFile(dataset, cases), suiteFile(provider.name, provider.name, spec)];
  });
  const files = [runtime, ...scriptsNamedIn(runtime.text), ...suites];
  // Providers that are asked all scenarios share their cases.
  return [...new Map(files.map((file) => [file.name, file])).values()];
}

/** One file of an Arena: its kind, and what it specifies. */
interface ArenaFile {
  readonly kind: string;
  readonly name: string;
  readonly root: Source;
  readonly spec: Source;
}

/** The files that a first one names, below its folder. */
interface ArenaFiles {
  readonly first: ArenaFile;
  readonly files: SourceFiles;
  /** The files of a list of `{file}`; what cannot be read is noted at its place in the first one. */
  listed(key: keyof typeof kindsOf): readonly ArenaFile[];
}

/** Opens an Arena, or one of its scenarios. Throws FILE_UNREADABLE and CONFIG_INVALID of that file. */
function openArena(file: string, output: string, notes: Notes): ArenaFiles {
  const text = textOfFile(file);
  if (typeof text !== 'string') throw new RuntimeError('FILE_UNREADABLE', text.fault);
  const document = parseDocument(file, text);
  const toArenaFile = (parsed: YamlDocument, value: unknown): ArenaFile => {
    const root = notes.open(value, parsed.keyPositionOf);
    return { ...headOf(root), root, spec: root.at('spec') };
  };
  const first = toArenaFile(document, requireLoaded(file, document.value, document.problems));
  const files = openSourceFiles(dirname(resolve(file)), output, notes);
  const open = (entry: Source, name: string, kind: string): readonly ArenaFile[] => {
    const found = files.find(name);
    const body = 'fault' in found ? found : textOfFile(found.file);
    if (typeof body !== 'string') {
      entry.leave(body.fault);
      return [];
    }
    const inner = parseDocument(join(dirname(file), name), body);
    const [problem] = inner.problems;
    if (problem !== undefined || !isObject(inner.value)) {
      notes.add(
        'error',
        problem ?? inner.positionOf([]),
        problem?.message ?? 'it is no mapping, and is left out',
      );
      return [];
    }
    const made = toArenaFile(inner, inner.value);
    if (made.kind === kind) return [made];
    made.root.leave(`a file of kind ${made.kind}, where a ${kind} is named, is left out`);
    return [];
  };
  const listed = (key: keyof typeof kindsOf): readonly ArenaFile[] =>
    first.spec
      .at(key)
      .items()
      .flatMap((entry) => {
        const name = entry.text() ?? entry.at('file').text();
        // What else an entry of prompts has is the name that scenarios know them by.
        entry.at('id').text();
        if (name !== undefined) return open(entry, name, kindsOf[key]);
        entry.leave(`an entry of \`${key}\` without a file is left out`);
        return [];
      });
  return { first, files, listed };
}

/** The kind of file that each list of an Arena names. */
const kindsOf = {
  prompt_configs: 'PromptConfig',
  providers: 'Provider',
  scenarios: 'Scenario',
  tools: 'Tool',
} as const;

/** What every file of PromptKit's has around its `spec`. */
function headOf(root: Source): Pick<ArenaFile, 'kind' | 'name'> {
  root.at('apiVersion').scalar();
  root.at('$schema').text();
  for (const [key, member] of root.at('metadata').members())
    if (key !== 'name')
      member.leave(`\`metadata.${key}\` is not carried, and changes nothing`, undefined, 'note');
  const name = root.at('metadata').at('name').scalar();
  const spec = root.at('spec');
  return { kind: root.at('kind').text() ?? '', name: name ?? spec.at('id').text() ?? 'arena' };
}

/** Says of these members that they change no answer and no verdict. */
function leaveIdle(spec: Source, keys: readonly string[]): void {
  for (const key of keys.filter((each) => spec.at(each).isGiven))
    spec.at(key).leave(`\`${key}\` is not carried, and changes nothing`, undefined, 'note');
}

/** A scenario as a case: what is asked, and what is asserted of the answer. */
interface ArenaCase {
  readonly id: string;
  readonly taskType: string | undefined;
  readonly question: string;
  readonly assertions: readonly ImportedAssertion[];
  /** The ids of the providers that alone are asked; undefined where all are. */
  readonly providers: readonly string[] | undefined;
  readonly spec: Source;
}

/** The case of a scenario: its first turn; undefined, with a note, where nobody asks anything in it. */
function caseOfScenario({ spec, name }: ArenaFile): ArenaCase | undefined {
  leaveIdle(spec, ['description']);
  const turns = spec.at('turns');
  const [first, ...more] = turns.items();
  const question = first?.at('role').word('user') === undefined ? undefined : first.at('content').text();
  if (first === undefined || question === undefined) {
    spec.leave('a scenario that does not begin with a text of the user is left out');
    return undefined;
  }
  if (question.includes('{{'))
    first.at('content').note('error', 'the template of a turn stays as it is: PromptKit alone fills it in');
  for (const turn of more)
    turn.leave(
      'a turn after the first is left out: it goes on from what the model said',
      'Write the conversation as a pipeline, and make that the subject.',
    );
  return {
    id: spec.at('id').scalar() ?? name,
    taskType: spec.at('task_type').text(),
    question,
    assertions: [
      ...assertionsAt(first.at('assertions')),
      ...assertionsAt(spec.at('conversation_assertions')),
    ],
    providers: spec.at('providers').texts(),
    spec,
  };
}

/** Assertions whose type is built in under PromptKit’s name; others are noted. One that holds at times only is none that always holds. */
function assertionsAt(list: Source): readonly ImportedAssertion[] {
  return list.items().flatMap((each) => {
    const type = each.at('type').text();
    if (type === undefined || findCheck(type) === undefined) {
      each.leave(`the assertion \`${type ?? ''}\` has no counterpart and is left out`);
      return [];
    }
    const found = conditions.filter((key) => each.at(key).isGiven).map((key) => `\`${key}\``);
    if (found.length > 0) {
      each.leave(`an assertion with ${found.join(', ')} is left out`);
      return [];
    }
    leaveIdle(each, ['message', 'description']);
    const members = each
      .at('params')
      .members()
      .filter(([key]) => key !== 'message');
    each.at('params').at('message').text();
    const params = Object.fromEntries(members.map(([key, value]) => [key, value.whole()]));
    const { schema } = params;
    const check = { type, params: isObject(schema) ? { ...params, schema: asDraft07(schema) } : params };
    return [{ name: each.at('id').text() ?? type, check, weight: 1 }];
  });
}

/** What changes when, or how often, an assertion has to hold. */
const conditions = [
  'when',
  'pass_threshold',
  'threshold',
  'min_score',
  'max_score',
  'enabled',
  'trigger',
  'sample_percentage',
];

/**
 * A provider of an Arena, whose keys are those of a RuntimeConfig but for its prices. One with a key that is not carried
 * is left out: prompts could go to another address, or go there with other rights or at another rate.
 */
function providerOf({ spec, name: fileName }: ArenaFile): ImportedProvider | undefined {
  const [type, model] = [spec.at('type').text(), spec.at('model').text()];
  if (type === undefined || model === undefined) {
    spec.leave('a provider without type or model is left out');
    return undefined;
  }
  const credential = spec.at('credential');
  const named = credential.at('credential_env').text();
  const id = spec.at('id').scalar() ?? fileName;
  const name = slugOf(fileName);
  const entry = omitUndefined({
    id: name,
    type,
    model,
    base_url: spec.at('base_url').text(),
    headers: headersOf(spec.at('headers')),
    rate_limit: numbersOf(spec.at('rate_limit'), ['rps', 'burst']),
    request_timeout: spec.at('request_timeout').text(),
    credential: named === undefined ? undefined : { credential_env: named },
    defaults: numbersOf(spec.at('defaults'), ['temperature', 'top_p', 'max_tokens']),
    pricing: pricingOf(spec.at('pricing')),
  });
  const missed = spec.untaken().map(({ path }) => `\`${path.slice(1).join('.')}\``);
  if (missed.length === 0) return { kind: 'chat', name, id, label: fileName, entry };
  const [first] = spec.untaken();
  const hint = 'Declare the provider in the runtime yourself, and name it in the subject of the suite.';
  first?.note('error', `the provider \`${fileName}\` is left out: ${missed.join(', ')} is not carried`, hint);
  spec.whole();
  return undefined;
}

/** Headers without keys in them, which the import never writes. */
function headersOf(given: Source): Mapping | undefined {
  const isPlain = given.members().every(([name]) => !/auth|key|token|secret|cookie|password/i.test(name));
  return isPlain && given.kind === 'mapping' ? given.mapping() : undefined;
}

function pricingOf(given: Source): Mapping | undefined {
  const price = (name: string): number | undefined => {
    const million = given.at(`${name}_per_million`).number();
    return given.at(`${name}_per_1k`).number() ?? (million === undefined ? undefined : million / 1000);
  };
  const found = omitUndefined({
    input_cost_per_1k: price('input_cost'),
    output_cost_per_1k: price('output_cost'),
  });
  return Object.keys(found).length === 0 ? undefined : found;
}

function numbersOf(given: Source, names: readonly string[]): Mapping | undefined {
  const found = omitUndefined(Object.fromEntries(names.map((name) => [name, given.at(name).number()])));
  return Object.keys(found).length === 0 ? undefined : found;
}

/** Whether a command is a path from the folder of the Arena, and no name on `PATH`. */
function isRelative(command: string): boolean {
  return command.includes('/') && !isAbsolute(command);
}

/** A tool that is a program; undefined, with a note, for others. */
function toolOf(
  { spec, name }: ArenaFile,
  { folderFromOutput }: SourceFiles,
): readonly [name: string, entry: Mapping] | undefined {
  const exec = spec.at('exec');
  const command = exec.at('command').text();
  const mode = spec.at('mode').text() ?? (exec.isGiven ? 'exec' : 'mock');
  if (command === undefined || mode !== 'exec') {
    spec.leave(`the tool \`${name}\` of mode ${mode} is no program and is left out`);
    return undefined;
  }
  spec.at('name').text();
  const timeout = exec.at('timeout_ms').number() ?? spec.at('timeout_ms').number();
  spec.at('timeout_ms').number();
  const env = exec.at('env').texts();
  const entry = omitUndefined({
    description: spec.at('description').text(),
    input_schema: spec.at('input_schema').mapping(),
    output_schema: spec.at('output_schema').mapping(),
    exec: omitUndefined({
      command: isRelative(command) ? posix.join(folderFromOutput, command) : command,
      args: exec.at('args').texts(),
      env: env?.filter((each) => /^\w+$/.test(each)),
      timeout_ms: timeout,
      runtime: exec.at('runtime').word('server', 'exec'),
      cwd: folderFromOutput === '' ? undefined : folderFromOutput,
    }),
  });
  const literal = env?.find((each) => !/^\w+$/.test(each));
  if (literal !== undefined)
    exec
      .at('env')
      .note('error', '`env` is carried without its values', 'Name the variables, and set them yourself.');
  return [name, entry];
}
