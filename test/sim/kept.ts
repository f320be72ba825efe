/** Seeds that have shown a fault, with the fault. They stay. */

/** Seeds that showed something with one node, and what they showed. */
export const kept: readonly (readonly [seed: number, showed: string])[] = [
  [6, 'a block was counted lost after six attempts to hand it in'],
  [38, 'work came back 12 s after the end of a fault, since streams were opened again that late'],
  [65, 'work came back 12 s after the end of a fault'],
  [508, 'all chains waited for solutions whose answers were lost, 2.4 s after the end of an outage'],
  [2266, 'the same: questions that were lost in the outage kept others from their turn'],
  [3828, 'a solution that was on the chain was called rejected while the chain could not be asked'],
  [67, 'submissions that are repeated while one is under way'],
  [277, 'requests that were repeated on idle connections, all of them half open: work came back after 3.4 s'],
  [875, 'work that was lost before its answer came was searched, in calm times, until its chain moved on again'],
  [930, 'an answer of 2xx that was not of the node: 20 s until a solution had its verdict'],
  [979, 'work came back 5 s after connections were half open'],
  [1627, 'work came back 18 s after connections were half open'],
]

/** Seeds that showed something in a whole scenario: several nodes, disk faults, kills of the miner. */
export const keptWhole: readonly (readonly [seed: number, showed: string])[] = [
  [103, 'work was asked of a node, and never again let go, because a solution of an earlier run was settled with it'],
  [125, 'a block was called stale since another node did not have it yet, while its own was just coming back'],
  [732, 'a block was called stale since its node failed to answer once, and another did not have it yet'],
  [84, 'after the block of a solution had left its chain, its parent was not searched until somebody else found one'],
  [1489, 'a block that one node called an orphan was never looked for again, and was on the chain in the end'],
  [2866, 'a block was called an orphan by a node of another network, which had come up behind the same address'],
  [3201, 'solutions of an earlier run were forgotten by a miner whose disk was broken when it started'],
  [4304, 'the same, and one of them was never handed in'],
  [1456, 'a node that gave no work was not left while old work of it was searched, which nobody took any more'],
  [30244, 'work of a node that had started anew was searched for 2 s after it had refused a solution'],
  [40334, 'a node whose work was empty was left 3 s after that began to fail, since only its last failure counted'],
  [32338, 'work of a node that had started anew while nothing went through was searched for 2 s after that'],
  [33078, 'a block was called an orphan by another node, on another branch, while its own failed to say'],
  [33439, 'a block that only another node had taken, and dropped, was called accepted to the end'],
  [34033, 'a node that owed standby work for long had 2 s more when the work was lost'],
  [31432, 'work of a node that had started anew was searched for 2 s, since its streams had ended without a sign'],
  [31171, 'a solution on its way to a node that had been silent before held up its chain for a second'],
  [31464, 'each of 23 questions about solutions kept two timers, beyond what is allowed in all'],
  [8854, 'a node that had started anew and did not say whether its work stands was left after 3.9 s'],
  [4750, 'all chains waited for solutions on their way to a node that was gone, while another one gave work'],
  [2663, 'after an adjacent chain was reorganised, our solution kept its parent from being searched for 3.5 s'],
  [2001, 'the same, in calm times'],
  [5881, 'a second node that answered and gave no work was waited for, while a third one was well'],
  [
    2960,
    'nothing: what a miner had sent before its power failed was taken for a solution that the next handed in twice',
  ],
  [946, 'a right solution was refused for good by another network behind the address of its node'],
  [63538, 'a solution that its node had refused kept its parent from being searched at another node'],
  [
    62725,
    'nothing: a block was stale at a node whose chain had gone on before it was found, and came back there later',
  ],
  [61177, 'nothing: the verdict on a solution was in the journal when the miner died, which had told nobody of it yet'],
  [45131, 'nothing: a solution whose line was in the journal when the miner died, which had told nobody of it yet'],
  [41124, 'nothing: what was in the journal when it was sent, and was lost with the power before it came to the node'],
  [
    75175,
    'nothing: a solution that a miner had sent while it could not write its journal came to the node after its death',
  ],
  [5252, 'nothing: of a block that was taken nobody could say more, since its chain had not moved on'],
  [53215, 'after connections were half open, a third request for the cut went by one of them too'],
  [50792, 'a node that gave no work was left up to a second too late, since it was judged only once a second'],
  [
    46690,
    'another network behind the same address was not known, since nobody had remembered the only block told before',
  ],
  [
    71356,
    'a node that had started anew took a solution after 12 s, when it happened to be asked for the same work again',
  ],
  [934, 'work of a node with other chains, which had come up behind the address of the first, was searched for 4.4 s'],
]
