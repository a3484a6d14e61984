import { RuntimeError } from '../../base/errors.ts';
import type { Expression } from '../../base/expression/expression.ts';
import { isObject } from '../../base/json/json.ts';
import { readDocument } from '../../base/yaml/document.ts';
import { configInvalid, requireLoaded } from '../../base/yaml/problem.ts';
import type { HookConfig, RuntimeConfig } from '../../config/config.ts';
import { findUnstartable } from '../../config/load.ts';
import { askedProvider, whyToolNameRefused } from '../../config/provider-use.ts';
import type { Services } from '../../pipelines/state/run-context.ts';
import type { HostEnv } from '../../process/env.ts';
import { readSmall } from '../../suites/dataset/rows.ts';
import { checksOf, type SingleCheck, type Subject, type Suite, subjectsOf } from '../../suites/file/model.ts';
import { describeMissing, findColumnUses } from '../../suites/validate/expressions.ts';
import type { SuiteRunOptions } from '../api.ts';

interface StartContext {
  readonly config: RuntimeConfig;
  readonly services: Pick<Services, 'model'>;
  readonly env: HostEnv;
  readonly replay: string | undefined;
}

/**
 * Checks, before the first case costs anything, for failures of every case: a program or script that cannot start, a
 * provider or judge without a key. Throws CONFIG_INVALID, PROVIDER_UNUSABLE, NAME_UNKNOWN.
 */
export async function requireStartable(
  suite: Suite,
  { cache }: Pick<SuiteRunOptions, 'cache'>,
  { config, services, env, replay }: StartContext,
): Promise<void> {
  if (replay !== undefined) return;
  const subjects = subjectsOf(suite);
  const checks = checksOf(suite);
  const asked = subjects.filter((subject) => (cache ?? subject.cache ?? false) === false);
  const used = {
    eval: new Set([...checks.map(({ type }) => type), ...asked.flatMap(guardrailsOf)]),
    tool: new Set(asked.flatMap(toolsOf)),
    hook: new Set(config.hooks.filter((hook) => isAsked(hook, suite, asked)).map(({ name }) => name)),
  };
  const problems = findUnstartable(config, env, ({ capability, name }) => used[capability].has(name));
  if (problems.length > 0) throw configInvalid(config.file, problems);
  const byChecks = asked.length < subjects.length || cache ? [] : await askedBy(checks, config);
  const answering = asked.flatMap((subject) => (subject.kind === 'chat' ? [subject.chat] : []));
  for (const { provider, tools } of answering) requireToolNames(provider, tools, config);
  const llms = byChecks.filter(({ role }) => role === 'llm').map(({ id }) => id);
  for (const id of new Set([...answering.map(({ provider }) => provider), ...llms]))
    await services.model(id, 'hold');
  const embedders = byChecks.filter(({ role }) => role === 'embedding').map(({ id }) => id);
  for (const id of new Set(embedders)) await services.model(id, 'hold', { embeds: [] });
}

/**
 * Throws CONFIG_INVALID if the suite reads a column that no row of a small dataset has. A column missing in some rows
 * is a problem of those rows.
 */
export async function requireColumns({ file, dataset }: Suite, signal: AbortSignal): Promise<void> {
  if (dataset.kind === 'inline') return;
  const document = readDocument(file);
  let missing = findColumnUses(document);
  if (missing.length === 0) return;
  const known = new Set<string>();
  const isRead = await readSmall(dataset, signal, ({ content }) => {
    if (!content.usable) return true;
    const { value } = content;
    missing = missing.filter(({ column }) => !Object.hasOwn(value, column));
    if (known.size < MOST_COLUMNS) for (const key of Object.keys(value)) known.add(key);
    return missing.length > 0;
  });
  if (!isRead || missing.length === 0 || known.size === 0) return;
  requireLoaded(file, undefined, describeMissing(document, missing, [...known]));
}

const MOST_COLUMNS = 100;

function requireToolNames(id: string, tools: readonly string[], { providers }: RuntimeConfig): void {
  const problem = tools.map((tool) => whyToolNameRefused(tool, id, providers)).find((each) => each);
  if (problem !== undefined)
    throw new RuntimeError('PROVIDER_UNUSABLE', problem.message, { hint: problem.hint });
}

function guardrailsOf(subject: Subject): readonly string[] {
  return subject.kind === 'chat' ? subject.chat.guardrails.map(({ type }) => type) : [];
}

function toolsOf(subject: Subject): readonly string[] {
  if (subject.kind === 'tool') return [subject.tool];
  return subject.kind === 'chat' ? subject.chat.tools : [];
}

/**
 * Whether the filter surely runs: for every call of a subject, or for labelled events. With `match` it may never run.
 */
function isAsked({ name, hook, mode, match }: HookConfig, { evals }: Suite, subjects: readonly Subject[]) {
  if (evals.some(({ check }) => check.kind === 'guard' && check.only === name)) return true;
  if (mode !== 'filter' || match !== undefined) return false;
  return subjects.some(
    ({ kind }) => (kind === 'tool' && hook === 'tool') || (kind === 'chat' && hook === 'provider'),
  );
}

async function askedBy(checks: readonly SingleCheck[], config: RuntimeConfig) {
  const { findCheck } = await import('../../builtins/checks/all.ts');
  const own = new Set(config.evals.map(({ name }) => name));
  return checks
    .filter(({ type }) => !own.has(type))
    .flatMap(({ type, params }) => {
      const fixed = fixedParams(params);
      if (!isObject(fixed)) return [];
      return Object.entries(findCheck(type)?.params ?? {}).flatMap(
        ([param, { aliases = [], asks: role }]) => {
          if (role === undefined) return [];
          const id = [param, ...aliases].map((name) => fixed[name]).find((value) => value !== undefined);
          return [{ role, id: typeof id === 'string' ? id : askedProvider(role, config.providers) }];
        },
      );
    });
}

function fixedParams(params: Expression): unknown {
  try {
    return params.evaluate({});
  } catch {
    return undefined;
  }
}
