import type { HostEnv } from '../../binding/env.ts';
import type { HookConfig, RuntimeConfig } from '../../config/config.ts';
import { findUnstartable, summarize } from '../../config/load.ts';
import { RuntimeError } from '../../errors.ts';
import type { Expression } from '../../expression/expression.ts';
import { isObject } from '../../json/json.ts';
import type { Services } from '../../pipeline/state/run-context.ts';
import { checksOf, type SingleCheck, type Subject, type Suite, subjectsOf } from '../../suite/file/model.ts';
import type { SuiteRunOptions } from '../api.ts';
import { judgingProvider } from '../model-judge.ts';

interface StartContext {
  readonly config: RuntimeConfig;
  readonly services: Pick<Services, 'model'>;
  readonly env: HostEnv;
  /** The recording that answers in the place of models and programs. */
  readonly replay: string | undefined;
}

/**
 * Finds, before the first case and its costs, what would fail for every case: a program or script that cannot start, a provider
 * or judge without its key. Throws CONFIG_INVALID, PROVIDER_UNUSABLE, NAME_UNKNOWN.
 */
export async function requireStartable(
  suite: Suite,
  { cache }: Pick<SuiteRunOptions, 'cache'>,
  { config, services, env, replay }: StartContext,
): Promise<void> {
  if (replay !== undefined) return;
  const subjects = subjectsOf(suite);
  const checks = checksOf(suite);
  // Answers that are kept need neither a tool nor a key.
  const asked = subjects.filter((subject) => (cache ?? subject.cache ?? false) === false);
  const used = {
    eval: new Set([...checks.map(({ type }) => type), ...asked.flatMap(guardrailsOf)]),
    tool: new Set(asked.flatMap(toolsOf)),
    hook: new Set(config.hooks.filter((hook) => isAsked(hook, suite, asked)).map(({ name }) => name)),
  };
  const problems = findUnstartable(config, env, ({ capability, name }) => used[capability].has(name));
  if (problems.length > 0)
    throw new RuntimeError('CONFIG_INVALID', summarize(config.file, problems), { details: { problems } });
  const judges = asked.length < subjects.length || cache ? [] : await judgesOf(checks, config);
  const providers = asked.flatMap((subject) => (subject.kind === 'chat' ? [subject.chat.provider] : []));
  for (const id of new Set([...providers, ...judges])) await services.model(id, 'hold');
}

function guardrailsOf(subject: Subject): readonly string[] {
  return subject.kind === 'chat' ? subject.chat.guardrails.map(({ type }) => type) : [];
}

function toolsOf(subject: Subject): readonly string[] {
  if (subject.kind === 'tool') return [subject.tool];
  return subject.kind === 'chat' ? subject.chat.tools : [];
}

/** Whether every call of some subject, or some labelled event, asks the filter; one with `match` may never be asked. */
function isAsked({ name, hook, mode, match }: HookConfig, { evals }: Suite, subjects: readonly Subject[]) {
  if (evals.some(({ check }) => check.kind === 'guard' && check.only === name)) return true;
  if (mode !== 'filter' || match !== undefined) return false;
  return subjects.some(
    ({ kind }) => (kind === 'tool' && hook === 'tool') || (kind === 'chat' && hook === 'provider'),
  );
}

/** The providers that judge, of checks whose params are the same for every case. */
async function judgesOf(checks: readonly SingleCheck[], config: RuntimeConfig): Promise<readonly string[]> {
  const { findCheck } = await import('../../checks/all.ts');
  const own = new Set(config.evals.map(({ name }) => name));
  return checks
    .filter(({ type }) => !own.has(type) && findCheck(type)?.family === 'judge')
    .flatMap(({ params }) => {
      const fixed = fixedParams(params);
      if (!isObject(fixed)) return [];
      const { provider } = fixed;
      return [typeof provider === 'string' ? provider : judgingProvider(config.providers)];
    });
}

/** What an expression gives for every case; undefined where it depends on the case. */
function fixedParams(params: Expression): unknown {
  try {
    return params.evaluate({});
  } catch {
    return undefined;
  }
}
