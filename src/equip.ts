import { randomUUID } from 'node:crypto';
import type { HostEnv } from './binding/env.ts';
import { runEval } from './capability/eval.ts';
import type { Port } from './capability/invoke.ts';
import { meetsThreshold, requireThreshold } from './capability/threshold.ts';
import type { RuntimeConfig } from './config/config.ts';
import { unknownName } from './config/unknown-name.ts';
import type { EvalOutcome, EvalRequest } from './contract/eval.ts';
import type { Emit } from './contract/event.ts';
import { lazyModels } from './lazy.ts';
import { type Link, passGate } from './pipeline/gate.ts';
import type { Equipment, OfferedTool } from './pipeline/run-context.ts';
import { toScoredEvent } from './pipeline/score.ts';

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
  const models = lazyModels({ config, env: parts.env, record: parts.record, replay: parts.replay, fire });
  return {
    tools: parts.tools,
    emit,
    fire,
    model: async (id, stream) => {
      requireOpen();
      return await models.model(id, stream);
    },
    score: async ({ id, type, request, threshold, signal }) => {
      requireOpen();
      const port = evals.get(type) ?? unknownName('eval', type, evals.keys());
      if (threshold !== undefined) requireThreshold(threshold);
      const call = randomUUID();
      const timed = await runEval(port, { input: request, call, signal });
      const passed = meetsThreshold(timed.outcome, threshold);
      void passGate(links, toScoredEvent({ id, request, passed }, timed), { call });
      return { outcome: timed.outcome, passed };
    },
    tell: (phase, event) => void passGate(links, { hook: 'session', phase, event }, { call: randomUUID() }),
    close: () => models.close(),
  };
}

function openFire(links: readonly Link[]) {
  return async (
    event: Parameters<typeof passGate>[1],
    options: Partial<Parameters<typeof passGate>[2]> = {},
  ) => await passGate(links, event, { call: randomUUID(), ...options });
}
