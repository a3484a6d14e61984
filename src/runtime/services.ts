import { randomUUID } from 'node:crypto';
import type { HostEnv } from '../binding/env.ts';
import { runEval, type TimedOutcome } from '../capability/eval.ts';
import { announce, type Port } from '../capability/invoke.ts';
import { meetsThreshold, requireThreshold } from '../capability/threshold.ts';
import type { Cassette } from '../cassette/cassette.ts';
import type { Asked } from '../checks/check.ts';
import type { RuntimeConfig } from '../config/config.ts';
import type { EvalOutcome, EvalRequest } from '../contract/eval.ts';
import type { Emit } from '../contract/event.ts';
import type { Scrubber } from '../contract/scrub.ts';
import { bareScene } from '../contract/turn.ts';
import { RuntimeError } from '../errors.ts';
import { type Link, passGate } from '../hooks/gate.ts';
import { toScoredEvent } from '../pipeline/run/score.ts';
import type { Equipment, OfferedTool } from '../pipeline/state/run-context.ts';
import { openJudge } from './judge.ts';
import { lazyModels } from './lazy.ts';

/** What the parts of a runtime are put together from. */
export interface EquipmentParts {
  readonly config: RuntimeConfig;
  readonly tools: ReadonlyMap<string, OfferedTool>;
  readonly evals: ReadonlyMap<string, Port<EvalRequest, EvalOutcome>>;
  readonly links: readonly Link[];
  readonly emit: Emit;
  readonly env: HostEnv;
  readonly record: string | undefined;
  readonly replay: string | undefined;
  readonly cassette?: Cassette | undefined;
  readonly scrubber?: Scrubber | undefined;
  /** Throws RUNTIME_CLOSED. */
  readonly requireOpen: () => void;
}

/** Equipment, with what the runtime itself needs of it. */
export interface OwnEquipment extends Equipment {
  readonly fire: ReturnType<typeof openFire>;
  /** Never rejects. */
  close(): Promise<void>;
}

/** Everything that a call, an eval, a guard or a step of a pipeline may use. */
export function openEquipment(parts: EquipmentParts): OwnEquipment {
  const { config, evals, links, emit, requireOpen } = parts;
  const fire = openFire(links);
  const groups = links.filter((link) => 'group' in link);
  const { env, record, replay, cassette, scrubber } = parts;
  const models = lazyModels({ config, env, record, replay, cassette, scrubber, fire });
  const judge = openJudge(config, models);
  return {
    tools: parts.tools,
    emit,
    fire,
    model: async (id, stream, options) => {
      requireOpen();
      return await models.model(id, stream, options);
    },
    modelOf: (id) => config.providers.find((each) => each.id === id)?.model ?? '',
    score: async ({ id, type, request, threshold, signal }) => {
      requireOpen();
      const port = evals.get(type);
      if (threshold !== undefined) requireThreshold(threshold);
      const call = randomUUID();
      // An entry of the config stands in the place of a built-in check of its name.
      const timed = port
        ? await runEval(port, { input: request, call, signal })
        : await askCheck({ request, signal, judge, emit, call, declared: evals.keys() });
      const passed = meetsThreshold(timed.outcome, threshold);
      void passGate(links, toScoredEvent({ id, request, passed }, timed), { call });
      return { ...timed, passed };
    },
    links: groups,
    takeLate: (session) => groups.flatMap(({ group }) => group.takeLate(session)),
    tell: async (phase, event, signal) => {
      // Foreign hooks of a session's start are asked, by the run itself.
      const told = phase === 'session_start' ? links.filter((link) => !('group' in link)) : links;
      const { session_id, messages } = event;
      const host = { tool_count: parts.tools.size };
      const scene = { ...bareScene(session_id), messages, now: new Date().toISOString(), host };
      await passGate(told, { hook: 'session', phase, event }, { call: randomUUID(), scene, signal });
    },
    close: () => models.close(),
  };
}

interface CheckCall extends Pick<Asked, 'request' | 'signal' | 'judge'> {
  readonly emit: Emit;
  readonly call: string;
  /** What could have been meant by a type that is not built in. */
  readonly declared: Iterable<string>;
}

/** Asks a built-in check; their code is loaded when the first one is asked. Throws NAME_UNKNOWN. */
async function askCheck({ emit, call, declared, ...asked }: CheckCall): Promise<TimedOutcome> {
  const { type } = asked.request;
  const { findCheck, runCheck, suggestEval } = await import('../checks/all.ts');
  if (findCheck(type) === undefined) {
    const message = `there is no eval "${type}"`;
    throw new RuntimeError('NAME_UNKNOWN', message, { hint: suggestEval(type, [...declared]) });
  }
  const { run, finish } = announce(emit, 'eval', { name: type, call });
  const outcome = await run(() => runCheck(type, asked.request, asked));
  const error = outcome.status === 'unscored' ? outcome.error : undefined;
  return { outcome, ...finish({ status: outcome.status, error }), stderr: '' };
}

function openFire(links: readonly Link[]) {
  return async (
    event: Parameters<typeof passGate>[1],
    options: Partial<Parameters<typeof passGate>[2]> = {},
  ) => await passGate(links, event, { call: `event_${randomUUID()}`, ...options });
}
