import { dirname, isAbsolute, join, posix, resolve } from 'node:path';
import { RuntimeError } from '../../../base/errors.ts';
import { isObject } from '../../../base/json/json.ts';
import { asDraft07 } from '../../../base/yaml/ajv.ts';
import { parseDocument, type YamlDocument } from '../../../base/yaml/document.ts';
import { requireLoaded } from '../../../base/yaml/problem.ts';
import type { Source } from '../../../base/yaml/source.ts';
import { omitUndefined } from '../../../base/yaml/wording.ts';
import { findCheck } from '../../../builtins/checks/registry.ts';
import { asGiven, asItems, asMapping, asNumber, asScalar, asText, asTexts, readKeys } from '../suite/keys.ts';
import { scriptsNamedIn } from '../suite/programs.ts';
import { type ImportedProvider, readProvider, slugOf } from '../suite/providers.ts';
import { collectNotes, type Notes, openSourceFiles, textOfFile } from '../suite/source-files.ts';
import {
  askedProvider,
  datasetFile,
  type ImportedAssertion,
  planEvals,
  programsOf,
  runtimeFile,
  type SuiteImport,
  suiteFile,
  toSuiteImport,
} from '../suite/suite.ts';
import { renderValue, variablesOf } from '../suite/template.ts';

/** The keys that are read from each kind of file, as described in docs/guides/move-from-other-programs.md. */
export const arenaKeys = {
  prompt: {
    read: { task_type: asText, variables: asItems, system_template: asGiven, evals: assertionsAt },
    idle: ['version', 'description', 'template_engine', 'tested_models', 'metadata', 'compilation'],
  },
  variable: {
    read: { name: asText, default: asGiven },
    idle: ['type', 'required', 'description', 'example', 'validation'],
  },
  scenario: {
    read: {
      id: asScalar,
      task_type: asText,
      turns: asItems,
      conversation_assertions: assertionsAt,
      providers: asTexts,
    },
    idle: ['description'],
  },
  turn: { read: { role: (given: Source) => given.word('user'), content: asText, assertions: assertionsAt } },
  assertion: {
    read: { type: asText, id: asText, params: asGiven },
    idle: ['message', 'description'],
    /** An assertion with one of these keys holds only at times, so it is left out. */
    conditions: [
      'when',
      'pass_threshold',
      'threshold',
      'min_score',
      'max_score',
      'enabled',
      'trigger',
      'sample_percentage',
    ],
  },
  provider: {
    read: {
      id: asScalar,
      type: asText,
      model: asText,
      base_url: asText,
      headers: headersOf,
      rate_limit: numbersOf('rps', 'burst'),
      request_timeout: asText,
      credential: (given: Source) => given.at('credential_env').text(),
      defaults: numbersOf('temperature', 'top_p', 'max_tokens'),
      pricing: pricingOf,
    },
  },
  tool: {
    read: {
      name: asText,
      mode: asText,
      description: asText,
      input_schema: asMapping,
      output_schema: asMapping,
      timeout_ms: asNumber,
      exec: (given: Source) => readKeys(given, arenaKeys.program),
    },
  },
  program: {
    read: {
      command: asText,
      args: asTexts,
      env: asTexts,
      timeout_ms: asNumber,
      runtime: (given: Source) => given.word('server', 'exec'),
    },
  },
} as const;

type Mapping = Readonly<Record<string, unknown>>;

interface ArenaFile {
  readonly kind: string;
  readonly name: string;
  readonly root: Source;
  readonly spec: Source;
}

interface ArenaCase {
  readonly id: string;
  readonly system: string;
  readonly question: string;
  readonly assertions: readonly ImportedAssertion[];
  readonly providers: readonly string[] | undefined;
}

/**
 * Makes a suite for each provider of a PromptKit Arena or scenario from first turns, assertions and program tools.
 * Throws FILE_UNREADABLE and CONFIG_INVALID for the file itself.
 */
export function importArena(
  file: string,
  { output, provider: asked }: { readonly output: string; readonly provider: string | undefined },
): SuiteImport {
  const notes = collectNotes();
  const text = textOfFile(file);
  if (typeof text !== 'string') throw new RuntimeError('FILE_UNREADABLE', text.fault);
  const document = parseDocument(file, text);
  const first = openArenaFile(document, requireLoaded(file, document.value, document.problems), notes);
  if (first.kind !== 'Arena' && first.kind !== 'Scenario') {
    const isRuntime = first.kind === 'RuntimeConfig';
    throw new RuntimeError('CONFIG_INVALID', `${file} is of kind ${first.kind}, not an Arena or a Scenario`, {
      hint: isRuntime
        ? 'A RuntimeConfig needs no import: `signalbox validate` lists the keys that have no effect.'
        : 'Import the Arena that names it.',
    });
  }
  const files = openSourceFiles(dirname(resolve(file)), output, notes);

  const listed = (key: string, kind: string): readonly ArenaFile[] =>
    first.spec
      .at(key)
      .items()
      .flatMap((entry) => {
        const name = entry.text() ?? entry.at('file').text();
        // The other keys of a prompt entry are names for scenarios.
        entry.at('id').text();
        if (name === undefined) {
          entry.leave(`an entry of \`${key}\` without a file is left out`);
          return [];
        }
        const body = files.text(name);
        if (typeof body !== 'string') {
          entry.leave(body.fault);
          return [];
        }
        const inner = parseDocument(join(dirname(file), name), body);
        const [problem] = inner.problems;
        if (problem !== undefined || !isObject(inner.value)) {
          const message = problem?.message ?? 'it is not a mapping, and is left out';
          notes.add('error', problem ?? inner.positionOf([]), message);
          return [];
        }
        const made = openArenaFile(inner, inner.value, notes);
        if (made.kind === kind) return [made];
        made.root.leave(`a file of kind ${made.kind} is left out, because a ${kind} is expected here`);
        return [];
      });

  const prompts = listed('prompt_configs', 'PromptConfig').map(promptOf);
  const scenarios = first.kind === 'Scenario' ? [first] : listed('scenarios', 'Scenario');
  const read = scenarios.flatMap((scenario) => readScenario(scenario) ?? []);
  const tools = listed('tools', 'Tool').flatMap((tool) => toolOf(tool, files.folderFromOutput) ?? []);

  let providers = listed('providers', 'Provider').flatMap((each) => providerOf(each) ?? []);
  const isBare = providers.length === 0 && !first.spec.at('providers').isGiven;
  if (asked !== undefined || isBare) {
    if (asked === undefined)
      first.spec.note(
        'warning',
        'no model is named, so openai:gpt-4.1 answers',
        'Name a model with --provider.',
      );
    const given = notes.open(asked ?? 'openai:gpt-4.1', () => first.root.location);
    const named = readProvider(given, { files, notes });
    providers = named === undefined ? [] : [named];
  }
  const cases = read.map((each) => toCase(each, prompts));
  const suites = providers.flatMap((provider) => {
    const names = [provider.id, provider.label, provider.name];
    const own = cases.filter(
      (each) =>
        asked !== undefined ||
        each.providers === undefined ||
        names.some((name) => each.providers?.includes(name)),
    );
    return own.length === 0 ? [] : [{ provider, cases: own }];
  });
  if (suites.length === 0) return toSuiteImport([], cases.length, notes.all());

  const askedOf = suites.map(({ provider }) => provider);
  const runtime = runtimeFile({
    name: first.name,
    providers: askedOf,
    tools: { ...Object.fromEntries(tools), ...programsOf(askedOf) },
  });
  const toolNames = Object.keys(Object.fromEntries(tools));
  const written = suites.flatMap(({ provider, cases: own }) => {
    const plan = planEvals(own);
    const dataset = own.length === cases.length ? 'cases.jsonl' : `cases-${provider.name}.jsonl`;
    const rows = own.map(({ id, system, question }, index) => ({
      ...{ id, system, question },
      checks: plan.checks[index],
    }));
    const { subject, ...answer } = askedProvider(provider, {
      system: '${case.system}',
      messages: [{ role: 'user', content: '${case.question}' }],
      ...(toolNames.length > 0 && { tools: toolNames }),
    });
    const spec = { dataset, subject, case: { id: '${case.id}', ...answer }, evals: plan.evals };
    return [datasetFile(dataset, rows), suiteFile(provider.name, provider.name, spec)];
  });
  const distinct = new Map(
    [runtime, ...scriptsNamedIn(runtime.text), ...written].map((each) => [each.name, each]),
  );
  return toSuiteImport([...distinct.values()], cases.length, notes.all());
}

function openArenaFile({ keyPositionOf }: YamlDocument, value: unknown, notes: Notes): ArenaFile {
  const root = notes.open(value, keyPositionOf);
  root.at('apiVersion').scalar();
  root.at('$schema').text();
  for (const [key, member] of root.at('metadata').members())
    if (key !== 'name')
      member.leave(`\`metadata.${key}\` is not carried, and changes nothing`, undefined, 'note');
  const spec = root.at('spec');
  const name = root.at('metadata').at('name').scalar() ?? spec.at('id').text() ?? 'arena';
  return { kind: root.at('kind').text() ?? '', name, root, spec };
}

function promptOf({ spec }: ArenaFile) {
  const { task_type: taskType, variables, system_template: given, evals } = readKeys(spec, arenaKeys.prompt);
  const template = given.text() ?? '';
  const values: Record<string, unknown> = {};
  for (const variable of variables) {
    const { name, default: value } = readKeys(variable, arenaKeys.variable);
    if (name === undefined) continue;
    if (value.isGiven) values[name] = value.whole();
    else variable.leave(`the variable \`${name}\` of the prompt has no default, and is not filled in`);
  }
  const missing = variablesOf(template)?.filter((name) => !Object.hasOwn(values, name));
  const rendered = missing?.length === 0 ? renderValue(template, values) : undefined;
  if (typeof rendered !== 'string')
    given.note('error', 'a template without values stays as it is', 'Fill it in by hand in `cases.jsonl`.');
  return { taskType, system: typeof rendered === 'string' ? rendered : template, evals };
}

function readScenario({ spec, name }: ArenaFile) {
  const { id = name, turns, ...scenario } = readKeys(spec, arenaKeys.scenario);
  const [first, ...more] = turns;
  const turn = first && readKeys(first, arenaKeys.turn);
  if (turn?.role === undefined || turn.content === undefined) {
    spec.leave('a scenario that does not begin with a user message is left out');
    return undefined;
  }
  if (turn.content.includes('{{'))
    first
      ?.at('content')
      .note('error', 'the template of a turn stays as it is: only PromptKit can fill it in');
  for (const each of more)
    each.leave(
      'a turn after the first is left out: it depends on the answer of the model',
      'Write the conversation as a pipeline, and use that as the subject.',
    );
  const assertions = [...turn.assertions, ...scenario.conversation_assertions];
  return {
    id,
    spec,
    taskType: scenario.task_type,
    question: turn.content,
    assertions,
    providers: scenario.providers,
  };
}

function toCase(
  { taskType, spec, assertions, ...scenario }: NonNullable<ReturnType<typeof readScenario>>,
  prompts: readonly ReturnType<typeof promptOf>[],
): ArenaCase {
  const prompt = prompts.find((each) => each.taskType === taskType);
  if (prompt === undefined && prompts.length > 0)
    spec.note(
      'error',
      `no prompt has the task type ${String(taskType)}, so the scenario has no system prompt`,
    );
  return {
    ...scenario,
    system: prompt?.system ?? '',
    assertions: [...assertions, ...(prompt?.evals ?? [])],
  };
}

function assertionsAt(list: Source): readonly ImportedAssertion[] {
  return list.items().flatMap((each) => {
    const type = each.at('type').text();
    const found = arenaKeys.assertion.conditions.filter((key) => each.at(key).isGiven);
    if (type === undefined || findCheck(type) === undefined) {
      each.leave(`the assertion \`${type ?? ''}\` has no equivalent and is left out`);
      return [];
    }
    if (found.length > 0) {
      each.leave(`an assertion with ${found.map((key) => `\`${key}\``).join(', ')} is left out`);
      return [];
    }
    const { id = type, params: given } = readKeys(each, arenaKeys.assertion);
    given.at('message').text();
    const members = given.members().filter(([key]) => key !== 'message');
    const params: Mapping = Object.fromEntries(members.map(([key, value]) => [key, value.whole()]));
    const { schema } = params;
    const check = { type, params: isObject(schema) ? { ...params, schema: asDraft07(schema) } : params };
    return [{ name: id, check, weight: 1 }];
  });
}

/**
 * The keys equal those of a RuntimeConfig except for prices. Leaves out a provider with any unsupported key. Without
 * that key, prompts could go to another address or use other credentials or rates.
 */
function providerOf({ spec, name: label }: ArenaFile): ImportedProvider | undefined {
  const { id = label, type, model, credential, ...read } = readKeys(spec, arenaKeys.provider);
  if (type === undefined || model === undefined) {
    spec.leave('a provider without type or model is left out');
    return undefined;
  }
  const name = slugOf(label);
  const { base_url, headers, rate_limit, request_timeout, defaults, pricing } = read;
  const entry = omitUndefined({
    ...{ id: name, type, model, base_url, headers, rate_limit, request_timeout },
    credential: credential === undefined ? undefined : { credential_env: credential },
    ...{ defaults, pricing },
  });
  const missed = spec.untaken();
  if (missed.length === 0) return { kind: 'chat', name, id, label, entry };
  const keys = missed.map(({ path }) => `\`${path.slice(1).join('.')}\``).join(', ');
  const hint = 'Declare the provider in the runtime yourself, and name it in the subject of the suite.';
  missed[0]?.note('error', `the provider \`${label}\` is left out: ${keys} cannot be imported`, hint);
  spec.whole();
  return undefined;
}

/** Drops headers with credentials, which an import never writes. */
function headersOf(given: Source): Mapping | undefined {
  const isPlain = given.members().every(([name]) => !/auth|key|token|secret|cookie|password/i.test(name));
  return isPlain ? given.mapping() : undefined;
}

function pricingOf(given: Source): Mapping | undefined {
  const price = (name: string): number | undefined => {
    const million = given.at(`${name}_per_million`).number();
    return given.at(`${name}_per_1k`).number() ?? (million === undefined ? undefined : million / 1000);
  };
  return unlessEmpty({ input_cost_per_1k: price('input_cost'), output_cost_per_1k: price('output_cost') });
}

function numbersOf(...names: readonly string[]) {
  return (given: Source): Mapping | undefined =>
    unlessEmpty(Object.fromEntries(names.map((name) => [name, given.at(name).number()])));
}

function unlessEmpty(values: Readonly<Record<string, number | undefined>>): Mapping | undefined {
  const found = omitUndefined(values);
  return Object.keys(found).length === 0 ? undefined : found;
}

function toolOf(
  { spec, name }: ArenaFile,
  folder: string,
): readonly (readonly [name: string, entry: Mapping])[] | undefined {
  const isProgram = spec.at('exec').isGiven;
  const { exec, mode = isProgram ? 'exec' : 'mock', ...tool } = readKeys(spec, arenaKeys.tool);
  const { command, args, env, runtime } = exec;
  if (command === undefined || mode !== 'exec') {
    spec.leave(`the tool \`${name}\` of mode ${mode} is not a program and is left out`);
    return undefined;
  }
  const isName = (each: string): boolean => /^\w+$/.test(each);
  if (env !== undefined && !env.every(isName))
    spec
      .at('exec')
      .at('env')
      .note('error', 'the values of `env` are left out', 'Name the variables, and set them yourself.');
  const isRelative = command.includes('/') && !isAbsolute(command);
  const { description, input_schema, output_schema, timeout_ms } = tool;
  const entry = omitUndefined({
    ...{ description, input_schema, output_schema },
    exec: omitUndefined({
      command: isRelative ? posix.join(folder, command) : command,
      args,
      env: env?.filter(isName),
      timeout_ms: exec.timeout_ms ?? timeout_ms,
      runtime,
      cwd: folder === '' ? undefined : folder,
    }),
  });
  return [[name, entry]];
}
