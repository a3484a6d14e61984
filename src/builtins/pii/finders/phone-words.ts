import type { ScannedText } from '../scanned-text.ts';
import { counterBehind, tellingWords, wordsBefore, wordsBehind } from './context.ts';
import type { PhoneShape } from './phone-shape.ts';

/**
 * How sure the words around a number are that it is a phone number: with a colon, right beside it with nothing but little words
 * between, or somewhere in the sentence. `other`: the nearest word says that it is something else.
 */
export type PhoneLabel = 'stated' | 'beside' | 'near' | 'other' | undefined;

export function phoneLabelOf(scan: ScannedText, { start, end }: PhoneShape): PhoneLabel {
  if (counterBehind.test(scan.plain.slice(end, end + 5))) return 'other';
  const before = wordsBefore(scan, start, 60);
  if (otherBefore.test(before)) return 'other';
  if (besideBefore.test(before)) return /[:=]\s{0,2}["']?$/.test(before) ? 'stated' : 'beside';
  const behind = wordsBehind(scan, end, 40);
  if (besideBehind.test(behind)) return 'beside';
  return nearBefore.test(before) || nearWords.test(/^[^\d@]*/.exec(behind)?.[0] ?? '') ? 'near' : undefined;
}

const phones =
  '(?:tele|smart|i)?phones?|tel|tels|tlf|tlfno|tfno|tfn|telefon*|telefono*|telefone*|telephon*|telefoon*|mobile|mobiles|mobil|mobilnummer*|movil*|mobiel*|mob|' +
  'cell|cells|cellphone|cellular|cel|celu|celular*|handy*|fax*|telefax*|facsimil|telecopie*|portables?|port|fixe|fijo|fijos|festnetz*|*rufnummer*|durchwahl*|*hotline|helpline|landline*|' +
  'switchboard|front desk|voicemail|answering|whats ?app|wa|signal|viber|telegram|sms|standard|numero vert|numero gratuito|toll free|' +
  '电话|電話|手机|手機|座机|座機|热线|熱線|传真|傳真|號碼|号码|致电|致電|拨|撥|打给|打給|短信|簡訊|微信|联系|联络|聯絡|聯繫|' +
  '携帯|ケータイ|けいたい|スマホ|ファックス|ファクス|フリーダイヤル|ダイヤル|連絡先|直通|ショートメール|テル|代表|自宅|전화|휴대폰|핸드폰|연락처|팩스|' +
  'फोन*|मोबाइल*|मोबाईल*|दूरभाष*|मो\\.?|मोब|व्हाट्सएप|व्हाट्सऐप|व्हाट्सप|वाट्सऐप|वाट्सएप|हेल्पलाइन*|फैक्स|टेलीफोन*|एसएमएस|लैंडलाइन|टोल फ्री|हॉटलाइन|sampark';
/** What one does with a phone. */
const calls =
  'call|calls|called|calling|dial|dialled|dialed|texted|texting|ruf|rufe|rufen|anruf*|angerufen|anzurufen|*ruckruf*|zuruckruf*|telefonier*|telefonisch*|simst|simsen|' +
  'appele*|rappel*|joignable*|joindre|coup de fil|telephonez|telephoner|llamad|llamadme|llamadnos|llamam*|llame*|llamar*|llamo|telefonea*|chiamami|かけ|電話|कॉल*|मिस्ड कॉल|call kar(?:o|na)?|phone kar*';
/** What one does with other things too. */
const verbs =
  'ring|rings|text|texts|contact*|reach|reached|messages? (?:to|at|on)|registered(?: number)?|desk|erreichbar*|erreich*|kontakt*|notfallkontakt|klingel|melde|meldet|melden|' +
  'joign*|texto|textos|llama|llamas|toque|marca*|marque|localiza*|localice*|atencion|avisa*|recado|ligue|chiama*|bel|打|コール|संपर्क|सम्पर्क|मिला|रिंग';
const whose = '(?: (?:new|old|work|home|direct|private|personal|emergency|contact|neue|alte|private))?';
const numbers =
  `(?:my|her|his|our|your|their|the)${whose} (?:number|digits|line)|(?:mein|dein|unser|ihr|sein)e?${whose} (?:nummer|nr)|(?:mon|ton|son|notre|votre|leur) (?:numero|num|06|07)(?! d)|numero(?! d)|` +
  '(?:mi|tu|su|nuestro) (?:numero|nº)(?! d)|(?:私|母|父|妻|夫|彼|彼女|会社)?の番号|番号変|我的号|मेरा (?:नंबर|नं)|(?:का|की|के|मेरे|हमारा) (?:नंबर|नम्बर|नं)|नंबर|नम्बर|' +
  "emergency contact|contact d['’]urgence|紧急联系|緊急連絡|お問い合わせ|問合せ";
/** Words of a closed class, and whose the number is: what stands between a name and its number. */
const little =
  "no|nr|num|number|nummer|numero|n°|nº|code|is|it['’]s|are|was|at|on|to|me|us|him|her|them|the|or|via|under|unter|auf|an|mich|bitte|uns|ist|lautet|privat|mobil|dienstl|" +
  "est|c['’]est|au|le|la|les|sur|moi|nous|es|el|al|en|del?|du|svp|stp|pls|please|by|phone|hai|now|try|24/7|casa|home|work|office|domicile|domicilio|maison|bureau|oficina|buro|prive|perso|pro|cliente|urgence|emergencia|urgencia|mom|mum|mama|maman|mother|dad|die|der|das|den|folgende|jetzt|noch|immer|nouveau|nuevo|neue|new|old|pe|par|" +
  '番号|號|号|码|碼|同号|是|为|為|は|を|に|へ|まで|が|と|の|ね|発|到|至|请|請|母亲|父亲|母|父|這支|这个|है|पर|को|को भी|से|करें|करो|करना|कर|दो|दें|ये|वो|लो|नंबर|नम्बर|नं\\.?|न\\.?|संख्या|सूत्र|आईडी|पिताजी|मम्मी|번호|은|는';
const others =
  'order|invoice|ticket|case|account|tracking|reference|ref|id|version|license|licence|passport|card|zip|sku|serial|isbn|ean|upc|gtin|lot|batch|model|po|pnr|booking|build|' +
  '*rechnung*|*bestell*|kundennummer|vertrag*|aktenzeichen|az|artikel*|auftrag*|vorgang*|sendung*|charge|zahler*|konto*|' +
  'commande*|facture*|reference|contrat*|dossier|colis|siren|siret|lot|pedido*|factura*|referencia*|expediente*|contrato*|dni|cuenta*|guia|radicado|folio|lote|' +
  '订单*|訂單|发票*|發票|编号|編號|编码|工单|合同|卡号|账号|帳號|批次|序列|单号|單號|条码|条形码|qq|群|注文|顧客|契約|請求|伝票|型番|カード|口座|マイナンバー|個人|暗証|管理|製造|法人|お客様|会員|追跡|' +
  'आधार|पैन|पिन|ऑर्डर|बिल|खाता|खाते|ग्राहक|टिकट|ट्रेन|कार्ड|चालान|अनुबंध|रसीद|पीएनआर|चेक|गाड़ी|बैच|रोल|क्रमांक|पंजीकरण|शिकायत';

const gap = `(?:[ \\t"'’():;,.=#>*→<\\[\\]｜|、：?-]|\\n|\\p{L}{2,20}nummer(?!\\p{L})|${tellingWords(little).source}){0,12}$`;
const besideBefore = tellingWords(`${phones}|${calls}|${verbs}|${numbers}`, gap);
const nearBefore = tellingWords(`${phones}|${calls}`, '[^\\d@]{0,50}$');
const otherBefore = tellingWords(
  others,
  '[^\\n\\p{L}]{0,4}(?:no\\.?|number|num|nr\\.?|nummer|is|#|:|号|番号|号码|नंबर|संख्या|क्र\\.?|सं\\.?)?[^\\n\\p{L}]{0,4}$',
);
const besideBehind =
  /^[ \-,(]{0,3}(?:phone|mobile|cell|fax|office|desk|home|work|tel|handy|mobil)(?!\p{L})/iu;
const nearWords = tellingWords(`${phones}|${calls}|${numbers}`);
