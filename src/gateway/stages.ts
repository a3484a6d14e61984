import type { HookSet } from '../calls/hooks/links.ts';
import type { CallAccount } from './call/call-account.ts';
import type { ClientCall } from './call/client-call.ts';
import type { GatewayServices } from './call/services.ts';
import type { Turn } from './fallback/turn.ts';
import type { Caller } from './ports.ts';
import type { WireRequest } from './wire/codec.ts';

/** A call that came in. */
export interface IncomingCall {
  readonly client: ClientCall;
  readonly services: GatewayServices;
  readonly account: CallAccount;
}

/** A call whose caller is known. */
export interface CallOfCaller extends IncomingCall {
  readonly caller: Caller;
}

/** A call that hooks hear of. */
export interface GuardedCall extends CallOfCaller {
  readonly hooks: HookSet;
}

/** A guarded call whose request was read. */
export interface RequestedCall extends GuardedCall {
  readonly request: WireRequest;
}

/** A read call as it is for one upstream. */
export interface ReadCall extends RequestedCall, Turn {}
