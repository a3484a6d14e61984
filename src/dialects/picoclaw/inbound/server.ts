import { toRuntimeError } from '../../../errors.ts';
import type { AskHooks, InboundServer, Told } from '../../../inbound/inbound.ts';
import { reasonOf } from '../../../inbound/reason.ts';
import { isObject, stringifyJson } from '../../../json/json.ts';
import { settingsFor } from './settings.ts';
import { type Stage, stages } from './stages.ts';

/** PicoClaw asks a process that it keeps, by `hook.*` of JSON-RPC 2.0 (hook-json-protocol.md of v0.2.8). */
export const inboundServer: InboundServer = { answer, settingsFor };

async function answer(message: Told, ask: AskHooks): Promise<Told | undefined> {
  const { id, method, params } = message;
  // An event: nothing is answered, and nobody here observes another system's turns.
  if (id === undefined || id === null) return undefined;
  const reply = (fields: Told) => ({ jsonrpc: '2.0', id, ...fields });
  if (method === 'hook.hello') return reply({ result: { ok: true, name: 'signalbox' } });
  const stage = typeof method === 'string' ? stages[method.replace(/^hook\./, '')] : undefined;
  if (stage === undefined)
    return reply({ error: { code: -32_601, message: `signalbox is not asked by that method` } });
  return fitting(reply, stage, await judge(stage, isObject(params) ? params : {}, ask));
}

/** Whatever fails is a denial: PicoClaw would go on at an error. */
async function judge(stage: Stage, params: Told, ask: AskHooks): Promise<Told> {
  try {
    const decision = await ask(stage.toEvent(params));
    const isKept =
      decision.verdict === 'allow' || (decision.verdict === 'modify' && stage.keepsRest === true);
    const rest = isKept ? stage.toEventOfRest?.(params) : undefined;
    const aside = rest && (await ask(rest));
    // What stands beside the text cannot be changed.
    if (aside !== undefined && aside.verdict !== 'allow') return stage.toDenial(params, reasonOf(aside));
    return stage.toResult(params, decision);
  } catch (thrown) {
    const { code, message } = toRuntimeError(thrown);
    return stage.toDenial(params, `signalbox: [${code}] ${message}`);
  }
}

/** Of a line of 1 MiB or more PicoClaw reads nothing, and nothing behind it. */
function fitting(reply: (fields: Told) => Told, stage: Stage, result: Told): Told {
  const whole = reply({ result });
  if (Buffer.byteLength(stringifyJson(whole)) < LONGEST_LINE) return whole;
  return reply({ result: stage.toDenial({}, 'what a hook has left is too long for PicoClaw to read') });
}

const LONGEST_LINE = 1024 * 1024 - 1024;
