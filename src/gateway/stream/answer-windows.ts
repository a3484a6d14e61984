import type { ChatMessage } from '../../contract/provider.ts';
import { TextWindow } from '../../provider/guard/text-window.ts';
import {
  type AskAboutPiece,
  releasePieces,
  releaseRest,
  type StoppedAnswer,
} from '../../provider/guard/window-pieces.ts';
import type { Channel, StreamPart } from '../wire/codec.ts';

/** Asks the filters about a piece of one member of a choice's message. */
export type AskAboutMember = (member: Channel['member'], piece: string) => ReturnType<AskAboutPiece>;

/** A text of a message behind its window: all channels of one member of one choice, one after another. */
export interface MemberText {
  readonly choice: number;
  readonly member: Channel['member'];
  readonly window: TextWindow;
  /** Whatever was told on its channels. */
  told: string;
  /** How much of the window's released text the client has. */
  sent: number;
  /** The channel that it grows on. */
  channel: string;
  /** The channels that it has grown on. */
  readonly left: Set<string>;
  /** Nothing of it is released any more before the whole answer is judged. */
  isClosed: boolean;
}

/** The texts of an answer, each behind a window of its own. */
export class AnswerWindows {
  readonly #windowChars: number;
  readonly #ask: AskAboutMember;
  readonly #texts = new Map<string, MemberText>();

  constructor(windowChars: number, ask: AskAboutMember) {
    this.#windowChars = windowChars;
    this.#ask = ask;
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
    grown.told += text;
    // What goes on where it had stopped is put together otherwise than it was told.
    if (grown.channel !== channel.key) grown.isClosed ||= grown.left.has(channel.key);
    grown.left.add(grown.channel);
    grown.channel = channel.key;
    if (grown.isClosed) return undefined;
    grown.window.push(text);
    const stopped = await this.#endOthers(grown);
    if (stopped !== undefined) return stopped;
    return releasePieces(grown.window, (piece) => this.#ask(grown.member, piece));
  }

  /** The text that a channel belongs to. */
  textOf({ choice, member, key }: Channel): MemberText {
    const id = `${choice} ${member}`;
    const known = this.#texts.get(id);
    if (known !== undefined) return known;
    const window = new TextWindow(this.#windowChars);
    const text = {
      choice,
      member,
      window,
      told: '',
      sent: 0,
      channel: key,
      left: new Set<string>(),
      isClosed: false,
    };
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
    return [...this.#texts.values()].filter(({ sent }) => sent > 0);
  }

  /** The other texts of the choice end where another one begins, so that this one need not wait for their last piece. */
  async #endOthers(grown: MemberText): Promise<StoppedAnswer | undefined> {
    for (const other of this.#texts.values()) {
      if (other === grown || other.choice !== grown.choice || other.isClosed) continue;
      other.isClosed = true;
      const stopped = await releaseRest(other.window, (piece) => this.#ask(other.member, piece));
      if (stopped !== undefined) return stopped;
    }
    return undefined;
  }
}
