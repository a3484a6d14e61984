import type { ErrorCode, Fault } from '../errors.ts';
import type { Json } from '../json.ts';
import type { Answer, HookKind, HookMode, Phase } from './hook.ts';

export type Capability = 'tool' | 'eval' | 'hook';

/** Everything a runtime tells about itself, in the order in which it happened. Durations are milliseconds. */
export type RuntimeEvent =
  | { readonly type: 'call.started'; readonly capability: Capability; readonly name: string; readonly call: string }
  | {
      readonly type: 'call.finished';
      readonly capability: Capability;
      readonly name: string;
      readonly call: string;
      /** The outcome's own word: ok, failed, pending, denied, scored, unscored, allow, modify, deny, told. */
      readonly status: string;
      readonly durationMs: number;
      readonly code?: ErrorCode;
      readonly message?: string;
    }
  | {
      /** One hook's verdict; in shadow mode nobody obeyed it. */
      readonly type: 'decision';
      readonly hook: string;
      readonly dialect: string;
      readonly kind: HookKind;
      readonly phase: Phase;
      readonly mode: HookMode;
      readonly verdict: Answer['verdict'];
      readonly reason: string;
      readonly metadata: Json;
      readonly durationMs: number;
      readonly error?: Fault;
    }
  | { readonly type: 'process.started'; readonly name: string; readonly pid: number }
  | {
      readonly type: 'process.ended';
      readonly name: string;
      readonly pid: number;
      readonly exitCode: number | null;
      readonly signal: string | null;
    }
  | {
      /** A server is started again. `deaths` counts those since its last good reply. */
      readonly type: 'process.restarted';
      readonly name: string;
      readonly pid: number;
      readonly deaths: number;
    }
  | { readonly type: 'circuit.opened'; readonly name: string; readonly deaths: number; readonly pauseMs: number }
  | {
      /** Something a process wrote, or an event an observer was owed, went nowhere. */
      readonly type: 'dropped';
      readonly name: string;
      readonly what: 'noise' | 'late reply' | 'unknown reply' | 'server request' | 'observer event';
      readonly detail: string;
    }
  | { readonly type: 'stderr'; readonly name: string; readonly pid: number; readonly line: string }
  | { readonly type: 'warning'; readonly name: string; readonly message: string };

/** Takes an event; must not throw. */
export type Emit = (event: RuntimeEvent) => void;
