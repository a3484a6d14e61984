import type { Json } from '../base/json/json.ts';
import type { Approval } from './approval.ts';
import type { EvalRequest } from './eval.ts';
import type { EvalEvent, SessionEvent, ToolHookRequest, ToolHookResponse } from './hook.ts';
import type { ProviderRequest, ProviderResponse } from './provider.ts';

// The declarations of `signalbox/author`, which is authors/signalbox.mjs: the payloads of the native protocol.

type Members = Readonly<Record<string, unknown>>;

/** A payload as a program reads it: what Signalbox keeps as text is an object there. */
type Parsed<Payload> = {
  readonly [Name in keyof Payload]: Json extends Payload[Name] ? Members : Payload[Name];
};

export interface ToolRequest<Args = Members> {
  readonly args: Args;
  readonly approval?: Approval;
  readonly idempotency_key?: string;
}

type ModelRequest = Parsed<Omit<ProviderRequest, 'tools' | 'options'>>;
type CallRequest = Pick<ToolHookRequest, 'name' | 'args' | 'call_id'>;
type CallResponse = Omit<ToolHookResponse, 'result'>;

/** A union by `phase`. */
export type FilterEvent =
  | { readonly hook: 'provider'; readonly phase: 'before_call'; readonly request: ModelRequest }
  | {
      readonly hook: 'provider';
      readonly phase: 'after_call';
      readonly request: ModelRequest;
      readonly response: ProviderResponse;
    }
  | { readonly hook: 'tool'; readonly phase: 'before_execution'; readonly request: CallRequest }
  | {
      readonly hook: 'tool';
      readonly phase: 'after_execution';
      readonly request: CallRequest;
      readonly response: CallResponse;
    };

/** Eval hooks observe the result itself, without an envelope. */
export type ObserverEvent =
  | FilterEvent
  | {
      readonly hook: 'session';
      readonly phase: 'session_start' | 'session_update' | 'session_end';
      readonly event: SessionEvent;
    }
  | (EvalEvent & { readonly hook?: undefined });

/** A whole reply. The functions below make them. */
export type Reply = Members;

export interface Call {
  /** Aborts when the caller of a server no longer waits. */
  readonly signal: AbortSignal;
  /** How far a tool is. Has an effect only in a server. */
  progress(done: number, total?: number, message?: string): void;
}

export interface Program<Request> {
  (request: Request, call?: Call): unknown;
  /** The reply that the program would print. That of a failure is `{"error": "…"}`. Never rejects. */
  handle(request: unknown): Promise<Members>;
  /** Answers the requests on stdin. With `import.meta`, it does nothing if the file was imported. */
  run(meta?: ImportMeta): Promise<void>;
}

type Work<Request, Returned> = (request: Request, call: Call) => Returned | Promise<Returned>;

export declare function tool<Args = Members>(
  work: Work<ToolRequest<Args>, unknown>,
): Program<ToolRequest<Args>>;
export declare function filter(
  work: Work<FilterEvent, boolean | Reply | null | undefined>,
): Program<FilterEvent>;
export declare function evaluator(
  work: Work<Parsed<EvalRequest>, number | boolean | Reply>,
): Program<Parsed<EvalRequest>>;
export declare function observer(work: Work<ObserverEvent, unknown>): Program<ObserverEvent>;

/** Fails a call with your own message. Every other exception is a crash, with exit code 1. */
export declare class Fail extends Error {}

export declare function pending(message: string, reason?: string): Reply;
export declare function allow(reason?: string, metadata?: object): Reply;
/** With a `replacement`, the caller gets this text in place of an answer. */
export declare function deny(reason?: string, more?: { metadata?: object; replacement?: string }): Reply;
export declare function ask(reason: string, metadata?: object): Reply;
export declare function replace(members: object, more?: { reason?: string; metadata?: object }): Reply;
export declare function score(value: number, detail?: string, data?: object): Reply;
export declare function abstain(reason: string): Reply;
