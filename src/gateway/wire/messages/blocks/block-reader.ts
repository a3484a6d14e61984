import { type BlockKind, findBlockKind } from './block-kinds.ts';
import { opaquePart, textPart } from './body-part.ts';
import { readDocument, readImage } from './media-blocks.ts';
import {
  type PathedBlock,
  type PathedList,
  positionOf,
  type ReadContext,
  requireString,
} from './read-context.ts';
import { requireReadableBytes } from './served-bytes.ts';
import { collectLeftovers } from './shapes.ts';
import type { ToldContent } from './told-content.ts';

/** Adds what a block tells. Throws what the context makes of blocks that hooks cannot be shown. */
export function readBlock(pathed: PathedBlock, told: ToldContent, context: ReadContext): void {
  const { block, fullPath } = pathed;
  const type = block.at('type')?.text;
  if (block.kind !== 'object' || type === undefined) throw context.malformed(fullPath);
  const kind = findBlockKind(type);
  if (kind === undefined) readUnknown(type, pathed, told, context);
  else {
    readKnown(kind, pathed, told, context);
    collectLeftovers(block, kind, pathed.path, told.leftovers);
  }
}

function readUnknown(type: string, pathed: PathedBlock, told: ToldContent, context: ReadContext): void {
  if (!context.rules.opaque.has(type)) throw context.unknown(type, pathed.fullPath);
  told.body.push(opaquePart(type, {}, positionOf(pathed)));
}

function readKnown({ role }: BlockKind, pathed: PathedBlock, told: ToldContent, context: ReadContext): void {
  switch (role) {
    case 'text':
      readText(pathed, told, context);
      return;
    case 'thinking':
      requireString(pathed, 'thinking', context);
      told.thinking.push(pathed);
      return;
    case 'redacted':
      told.redacted.push(pathed);
      return;
    case 'call':
      requireString(pathed, 'id', context);
      requireString(pathed, 'name', context);
      told.calls.push(pathed);
      return;
    case 'served':
      requireString(pathed, 'tool_use_id', context);
      requireReadableBytes(pathed.block, pathed.fullPath, context);
      told.served.push(pathed);
      return;
    case 'image':
      told.body.push(readImage(pathed, told, context));
      return;
    case 'document':
      readDocument(pathed, { told, context, readNested: (list) => readBlocks(list, told, context) });
      return;
    case 'search':
      readTexts(pathed, told, context);
      return;
    case 'upload':
      if (!context.isAnswer && !context.rules.references.has('file_id'))
        throw context.reference(`${pathed.fullPath}.file_id`);
      return;
    case 'compaction':
      told.compactions.push(pathed);
      return;
    case 'plain':
      return;
    case 'result':
      throw context.malformed(pathed.fullPath);
  }
}

function readText(pathed: PathedBlock, told: ToldContent, context: ReadContext): void {
  const { block } = pathed;
  told.body.push(textPart(requireString(pathed, 'text', context), positionOf(pathed)));
  const citations = block.at('citations');
  if (citations === undefined || citations.kind === 'null') return;
  if (citations.kind !== 'array') throw context.malformed(`${pathed.fullPath}.citations`);
  told.citing.push(block);
  for (const [entry, place] of citations.items.entries())
    told.citations.push({ owner: citations, entry, place });
}

/** The texts of a block that has a list of text blocks as its content. */
function readTexts(pathed: PathedBlock, told: ToldContent, context: ReadContext): void {
  const list = pathed.block.at('content');
  if (list?.kind !== 'array') throw context.malformed(`${pathed.fullPath}.content`);
  readBlocks({ list, path: `${pathed.path}.content`, fullPath: `${pathed.fullPath}.content` }, told, context);
}

/** Reads all blocks of a list. */
export function readBlocks(
  { list, path, fullPath }: PathedList,
  told: ToldContent,
  context: ReadContext,
): void {
  for (const [entry, block] of list.items.entries()) {
    const at = `[${entry}]`;
    readBlock({ block, owner: list, entry, path: path + at, fullPath: fullPath + at }, told, context);
  }
}
