import { stringifyJson } from '../base/json/json.ts';
import type { AgentCaller, InboundEvent, Told } from './inbound.ts';

/** A call of a tool, as an agent of another system tells it. */
export interface ToldCall {
  readonly name: unknown;
  readonly args: unknown;
  readonly call_id: string;
  /** Further names that the agent's system has for the tool. */
  readonly aliases?: readonly string[];
}

/** A call that is to be made; without its caller no person is asked about it. */
export function beforeExecution(call: ToldCall, caller?: AgentCaller): InboundEvent {
  return { hook: 'tool', phase: 'before_execution', request: call, ...(caller && { caller }) };
}

/** A call that was made. */
export function afterExecution(
  call: ToldCall,
  outcome: { readonly content: string } | { readonly error: string },
  latencyMs: unknown = 0,
): InboundEvent {
  const { name, call_id } = call;
  const latency_ms = typeof latencyMs === 'number' ? latencyMs : 0;
  return {
    hook: 'tool',
    phase: 'after_execution',
    request: call,
    response: { name, call_id, ...outcome, latency_ms },
  };
}

/** A text that a person has for the model. */
export function beforePrompt(agent: string, prompt: string): InboundEvent {
  const request = { provider_id: agent, messages: [{ role: 'user', content: prompt }] };
  return { hook: 'provider', phase: 'before_call', request };
}

/** A text that the model has for a person. */
export function afterAnswer(agent: string, text: string): InboundEvent {
  return {
    hook: 'provider',
    phase: 'after_call',
    request: { provider_id: agent },
    response: { message: { role: 'assistant', content: text } },
  };
}

export function ofSession(phase: 'session_start' | 'session_end', id: string): InboundEvent {
  return { hook: 'session', phase, event: { session_id: id } };
}

/** A structured result as the JSON that it is. */
export function contentOf(result: unknown): string {
  return typeof result === 'string' ? result : stringifyJson(result ?? null);
}

/** The text under that key; empty where there is none. */
export function textAt(told: Told, key: string): string {
  const value = told[key];
  return typeof value === 'string' ? value : '';
}
