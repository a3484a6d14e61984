import type { ChatMessage } from '../../contract/provider.ts';
import {
  type AskAboutPiece,
  releasePieces,
  releaseRest,
  type StoppedAnswer,
} from '../../models/guard/window-pieces.ts';
import type { Channel, StreamPart } from '../wire/codec.ts';
import { MemberText } from './member-text.ts';

/** Asks the filters about a piece of one member of a choice's message. */
export type AskAboutMember = (member: Channel['member'], piece: string) => ReturnType<AskAboutPiece>;

/** The texts of an answer, each behind a window of its own. */
export class AnswerWindows {
  readonly #windowChars: number;
  readonly #askAbout: AskAboutMember;
  readonly #texts = new Map<string, MemberText>();

  constructor(windowChars: number, askAbout: AskAboutMember) {
    this.#windowChars = windowChars;
    this.#askAbout = askAbout;
  }

  /** Whether filters have changed a text of which something is released. */
  get isChanged(): boolean {
    for (const { window } of this.#texts.values()) if (window.isChanged) return true;
    return false;
  }

  /** Adds text, and asks about what is due; returns what stopped it. */
  async add(deltas: Extract<StreamPart, { kind: 'text' }>['deltas']): Promise<StoppedAnswer | undefined> {
    for (const { channel, text } of deltas) {
      const stopped = await this.#addOne(channel, text);
      if (stopped !== undefined) return stopped;
    }
    return undefined;
  }

  async #addOne(channel: Channel, text: string): Promise<StoppedAnswer | undefined> {
    if (text === '') return undefined;
    const grown = this.textOf(channel);
    grown.add(channel, text);
    if (grown.isClosed) return undefined;
    return (await this.#endOthers(grown)) ?? (await this.#ask(grown, releasePieces));
  }

  /** The text that a channel belongs to. */
  textOf(channel: Channel): MemberText {
    const id = `${channel.choice} ${channel.member}`;
    const known = this.#texts.get(id);
    if (known !== undefined) return known;
    const text = new MemberText(channel, this.#windowChars);
    this.#texts.set(id, text);
    return text;
  }

  /** The messages as far as they were told. */
  messages(): ChatMessage[] {
    const messages = new Map<number, ChatMessage>();
    for (const { choice, member, told } of this.#texts.values()) {
      const message = messages.get(choice) ?? { role: 'assistant', content: '' };
      messages.set(choice, { ...message, [member]: told, finish_reason: 'interrupted' });
    }
    return [...messages.values()];
  }

  /** The texts of which the client has something. */
  sent(): MemberText[] {
    return [...this.#texts.values()].filter(({ isSent }) => isSent);
  }

  /** The other texts of the choice end where another one begins, so that this one need not wait for their last piece. */
  async #endOthers(grown: MemberText): Promise<StoppedAnswer | undefined> {
    for (const other of this.#texts.values()) {
      if (other === grown || other.choice !== grown.choice || other.isClosed) continue;
      other.isClosed = true;
      const stopped = await this.#ask(other, releaseRest);
      if (stopped !== undefined) return stopped;
    }
    return undefined;
  }

  async #ask(text: MemberText, release: typeof releasePieces): Promise<StoppedAnswer | undefined> {
    const released = await release(text.window, (piece) => this.#askAbout(text.member, piece));
    text.settle(released.text);
    return released.stopped;
  }
}
