/* Two shufflers in a row: intake, sealing, hand-over, release, recovery and shredding.

A takes reports from clients and hands its released batch to B, which releases it again. Every
atomic block is one durable step of the code, and a job may be killed after each of them. Steps are
named as in src/croupier/shuffler. One round is open at a time.

Besides, each within a budget: kills anywhere; a report that is sent again; a batch that is held; a
database, of A or of B, that is set back to what it was, with the output directory or an empty one;
a corrupt A that signs a false refusal, or shows B another hand-over of the same round.

Left out: garbage that clients send, damaged keys, disks that lose what was synced, and B's minimum,
which A's dummies meet. Time is a choice: a round may be over, and a batch that is too small may be
too old, at any moment; but B's disposal age ends after A has settled the round.

Every mutation, a name that is defined, takes one rule away: tests/test_protocol_model.py has them
all, with the property that each violates. */

#ifndef ROUNDS
#define ROUNDS 1
#endif
#ifndef MINIMUM
#define MINIMUM 2
#endif
#ifndef KILLS
#define KILLS 2
#endif
#ifndef RESENDS
#define RESENDS 1
#endif
#ifndef HOLDS
#define HOLDS 1
#endif
#ifndef LIES
#define LIES 1
#endif
#ifndef RESTORES
#define RESTORES 1
#endif
#ifndef JOBS
#define JOBS 1
#endif
#define LAST (ROUNDS - 1)

#define A 0
#define B 1

/* States of a batch. */
#define NONE 0
#define OPEN 1
#define SEALED 2
#define RELEASED 3
#define DISPOSED 4
#define SHREDDED 5

/* A file or its digest: two bits for the reports, one if a report is repeated, one for the order,
   two for A's noise, two for B's. A receipt holds that digest, or says that the batch is gone. */
#define REPORTS(file) ((file) & 3)
#define REPEATED 4
#define ORDER 8 /* drawn anew for every draft */
#define VERSION(file) ((file) & ~ORDER)
#define NOISE(file) ((file) / NOISE_A)
#define NOISE_A 16
#define NOISE_B 64
#define GONE 255
#define IS_FILE(receipt) ((receipt) != 0 && (receipt) != GONE)
/* What a corrupt A shows: without report 0, with other noise. Reports that were sealed for another
   round do not open. */
#define OTHER(r) (past[A].file[r] & 2 | 2 * NOISE_A)
#define DROPPED 128 /* the table of envelopes does not exist any more */

typedef Database {
  byte state[ROUNDS];
  byte envelopes[ROUNDS]; /* two bits for stored reports, two for those that a relay sent again */
  byte receipt[ROUNDS];
  byte lost;              /* rounds that the receipt of a recovery gives up, as bits */
  bit recovered
}
typedef Keys {
  bit key[ROUNDS];        /* opens the batch; the secret of its dummies is destroyed with it */
  byte handover[ROUNDS];  /* the digest that B has frozen */
  byte round;             /* the witness: the newest round, and the receipts */
  byte receipt[ROUNDS]
}
typedef Output {
  byte file[ROUNDS];
  byte receipt[ROUNDS];
  bit recovered;
  bit elsewhere[ROUNDS]   /* in the directory that was used before */
}

Database db[2];
Keys keys[2];
Output output[2];
byte draft[4];            /* files without a name, one per job: 2 * shuffler + job */
bit locked[2];            /* the advisory lock of release */
bit intake_refuses;       /* intake's own witness knows what the database of A lacks */

byte kills = KILLS, resends = RESENDS, holds = HOLDS, lies = LIES, restores = RESTORES;
byte to_send = 3;         /* reports, as bits */

/* Names of the properties, never true: the verifier prints the one that is violated. */
hidden byte one_receipt_per_batch, one_version_signed, one_version_published, drawn_once;
hidden byte report_in_one_batch, report_once_in_a_batch, acknowledged_is_released, all_of_a_in_b;
hidden byte durable_before_key_goes, nothing_unnamed_is_left, reachable;
#define CLAIM(property, condition) assert(property || (condition))

/* History, for the properties alone. */
byte acknowledged, missing;  /* reports, as bits; those that a set-back database has forgotten */
byte sealed_for[2];          /* the round of each report */
bit corrupt;                 /* A has lied: what B releases need not be what A did */
bit set_back[2];
typedef History {
  byte drawn[ROUNDS];     /* the last draft */
  byte committed[ROUNDS]; /* the last receipt in the database */
  byte file[ROUNDS];      /* what got a public name, in any directory, and the receipt beside it */
  byte receipt[ROUNDS]
}
History past[2];

#define ROUND(s) (db[s].state[0] == SHREDDED -> LAST : 0)
#define HERE(s, r) (!output[s].elsewhere[r])
#define LOST(s, r) ((db[s].lost >> (r)) & 1)
#define BIT(i) (1 << (i))
#define SEALED_FOR(r) ((sealed_for[0] == (r)) | (sealed_for[1] == (r)) << 1)
#define COUNT(rows) (((rows) & 1) + (((rows) >> 1) & 1) + (((rows) >> 2) & 1) + (((rows) >> 3) & 1))

/* The witness, or the output, names what the database lacks. A signed recovery settles that. */
#ifdef WITHOUT_WITNESS
#define WITNESS_LACKS(s, r) false
#else
#define WITNESS_LACKS(s, r) \
  (keys[s].receipt[r] != 0 && db[s].receipt[r] != keys[s].receipt[r] || \
   keys[s].round >= (r) && db[s].state[r] == NONE)
#endif
#define OUTPUT_LACKS(s, r) \
  (HERE(s, r) && output[s].receipt[r] != 0 && db[s].receipt[r] != output[s].receipt[r])
#define LACKS(s, r) (WITNESS_LACKS(s, r) || OUTPUT_LACKS(s, r))
#define IS_SET_BACK(s) (!db[s].recovered && (LACKS(s, 0) || LACKS(s, LAST)))

#define UNFINISHED_RECOVERY(s) \
  (db[s].recovered && (!output[s].recovered || keys[s].key[0] || keys[s].key[LAST]))
/* B has nothing to do before A has settled the round. */
#define UNFINISHED(s, r) \
  (db[s].state[r] != NONE && db[s].state[r] != SHREDDED && (s == A || SETTLED_BY_A(r)))
#define SETTLED_BY_A(r) (past[A].receipt[r] != 0 || LOST(A, r) && output[A].recovered)

/* B opens a round first: A binds its reports to B's key. A job opens the next round when it has
   finished the one before. */
#define MAY_OPEN(s, r) \
  (db[s].state[r] == NONE && !db[s].recovered && \
   (s == B || db[B].state[r] != NONE && !LOST(B, r)))

#define SETTLED(s, r) \
  (db[s].state[r] == SHREDDED && !keys[s].key[r] || LOST(s, r) || \
   s == A && db[s].state[r] == NONE && LOST(B, r))
#define AT_REST(s) \
  (!locked[s] && !IS_SET_BACK(s) && !UNFINISHED_RECOVERY(s) && SETTLED(s, 0) && SETTLED(s, LAST))
#define ALL_AT_REST (AT_REST(A) && AT_REST(B))

/* B takes over what A has published with a receipt, chained to the receipt before, and nothing else
   once a hand-over is frozen. */
#ifdef HANDOVER_NOT_FROZEN
#define MAY_TAKE(r, digest) true
#else
#define MAY_TAKE(r, digest) (keys[B].handover[r] == 0 || keys[B].handover[r] == (digest))
#endif
#define OFFERED(r) \
  (HERE(A, r) && IS_FILE(output[A].receipt[r]) && output[A].file[r] == output[A].receipt[r] && \
   ((r) == 0 || HERE(A, 0) && output[A].receipt[0] != 0) && MAY_TAKE(r, output[A].receipt[r]))
#define OTHER_OFFERED(r) ((corrupt || lies > 0) && past[A].receipt[r] != 0 && MAY_TAKE(r, OTHER(r)))

#define PUBLISHED(s, r) \
  (output[s].receipt[r] == GONE || IS_FILE(output[s].receipt[r]) && \
   output[s].file[r] == output[s].receipt[r])
#define HAS_DRAFT(s, digest) (draft[2 * s] == (digest) || draft[2 * s + 1] == (digest))

#ifdef WITHOUT_LOCK
#define FREE(s) true
#else
#define FREE(s) (!locked[s])
#endif

inline may_be_killed() {
  if
  :: true
  :: kills > 0 -> kills--; goto killed
  fi
}

inline forget() { r = 0; rows = 0 }

/* Record what the database has; only afterwards may it be shown. A receipt that a recovery could
   not restore stays recorded: its number is taken. */
#define HAS_TO_FOLLOW(r) (!db[s].recovered || db[s].receipt[r] != 0)
inline follow() {
  d_step {
    if :: db[s].state[LAST] != NONE -> keys[s].round = LAST :: else fi;
    if :: HAS_TO_FOLLOW(0) -> keys[s].receipt[0] = db[s].receipt[0] :: else fi;
    if :: HAS_TO_FOLLOW(LAST) -> keys[s].receipt[LAST] = db[s].receipt[LAST] :: else fi
  }
}
/* One receipt per batch. Another one only if the first was forgotten with the database before the
   witness, and so anybody, knew of it; with the same noise, and at B for the same hand-over. */
inline append_receipt(v) {
  d_step {
    CLAIM(one_receipt_per_batch, db[s].receipt[r] == 0);
    CLAIM(one_version_signed,
          past[s].committed[r] == 0 || set_back[s] && keys[s].receipt[r] == 0 &&
          (v == GONE || past[s].committed[r] == GONE ||
           VERSION(past[s].committed[r]) == VERSION(v) ||
           s == A && NOISE(past[s].committed[r]) == NOISE(v)));
    past[s].committed[r] = v;
    CLAIM(report_once_in_a_batch, v == GONE || (v & REPEATED) == 0);
    if
    :: s == A && v != GONE ->
      CLAIM(acknowledged_is_released,
            (acknowledged & ~missing & SEALED_FOR(r) & ~v) == 0)
    :: s == B && v != GONE ->
      CLAIM(all_of_a_in_b, corrupt || REPORTS(v) == REPORTS(past[A].file[r]))
    :: else
    fi;
    db[s].receipt[r] = v;
    if :: s == A -> intake_refuses = 0 :: else fi
  }
}

/* A has published the receipt of a round. Forget what cannot matter any more. */
inline settle_promises() {
  acknowledged = acknowledged & ~SEALED_FOR(r);
  missing = missing & acknowledged;
  if
  :: r == LAST -> to_send = 0; resends = 0; holds = 0
  :: else
  fi
}

inline destroy() {
  CLAIM(durable_before_key_goes, !keys[s].key[r] || LOST(s, r) || PUBLISHED(s, r));
  keys[s].key[r] = 0;
  keys[s].handover[r] = 0
}

/* Read what A shows, if it may be taken over; else the batch is disposed of when it is old. */
inline hand_over() {
  if
  :: OFFERED(r) && keys[B].key[r] -> rows = output[A].receipt[r]
  :: OTHER_OFFERED(r) && keys[B].key[r] ->
    if :: !corrupt -> corrupt = 1; lies-- :: else fi;
    rows = OTHER(r)
  :: !OFFERED(r) || !keys[B].key[r] -> goto dispose
  fi
}

proctype release(bit s, j) {
  byte r, rows;

idle:
  atomic {
    if
    :: ALL_AT_REST -> goto over
    :: FREE(s) && IS_SET_BACK(s) -> locked[s] = 1; goto recover
    :: FREE(s) && !IS_SET_BACK(s) && UNFINISHED_RECOVERY(s) ->
      locked[s] = 1; follow(); goto finish_recovery
    :: FREE(s) && !IS_SET_BACK(s) && UNFINISHED(s, ROUND(s)) ->
      locked[s] = 1; follow(); r = ROUND(s);
      may_be_killed();
      if
      :: db[s].state[r] == OPEN -> goto seal
      :: db[s].state[r] == SEALED -> goto decide
      :: db[s].state[r] == RELEASED || db[s].state[r] == DISPOSED -> goto publish
      fi
    :: FREE(s) && !IS_SET_BACK(s) && MAY_OPEN(s, ROUND(s)) ->
      locked[s] = 1; follow(); r = ROUND(s);
      keys[s].key[r] = 1; /* create_batch */
      may_be_killed()
    fi
  }
  atomic { /* open_batch */
    if :: db[s].state[r] == NONE -> db[s].state[r] = OPEN :: else fi;
    may_be_killed()
  }
  atomic { follow(); goto end_of_run }

seal:
  if
  :: s == A
  :: s == B ->
    atomic { /* take_over: verify the hand-over, record it beside the key */
      hand_over();
      keys[B].handover[r] = rows;
      rows = 0;
      may_be_killed()
    }
  fi;
  atomic {
    if :: db[s].state[r] == OPEN :: else -> goto end_of_run /* BusyError */ fi;
    db[s].state[r] = SEALED;
    may_be_killed()
  }

decide:
  atomic { /* remove_leftovers */
    draft[2 * s] = 0; draft[2 * s + 1] = 0;
    may_be_killed()
  }
  if
  :: s == A ->
    atomic { /* open, drop duplicates, count, add dummies, write */
      if
      :: COUNT(db[A].envelopes[r]) >= MINIMUM && keys[A].key[r] ->
        rows = REPORTS(db[A].envelopes[r])
      :: else -> goto too_few
      fi;
      if :: COUNT(rows) < MINIMUM -> goto too_few :: else fi;
#ifdef DUPLICATES_KEPT
      rows = rows | (db[A].envelopes[r] > 3 -> REPEATED : 0);
#endif
      rows = rows | NOISE_A
    }
  :: s == B ->
    atomic { hand_over(); rows = VERSION(rows) | NOISE_B }
  fi;
  atomic {
#ifdef NOISE_REDRAWN
    if
    :: s == A && past[A].drawn[r] != 0 -> rows = rows + NOISE_A
    :: s == B && past[B].drawn[r] != 0 -> rows = rows + NOISE_B
    :: else
    fi;
#endif
    /* The dummies of a batch are added to one input. A set-back database of A may have another. */
    CLAIM(drawn_once,
          past[s].drawn[r] == 0 || VERSION(past[s].drawn[r]) == rows ||
          s == A && set_back[A] && NOISE(past[s].drawn[r]) == NOISE(rows));
    if :: past[s].drawn[r] != 0 && !(past[s].drawn[r] & ORDER) -> rows = rows | ORDER :: else fi;
    past[s].drawn[r] = rows;
    draft[2 * s + j] = rows;
    may_be_killed()
  }
#ifdef SEPARATE_COMMITS
  atomic { append_receipt(rows); may_be_killed() }
  atomic { db[s].state[r] = RELEASED; may_be_killed(); goto publish }
#else
  atomic { /* receipt and state in one transaction */
    if :: db[s].state[r] == SEALED :: else -> goto end_of_run fi;
    append_receipt(rows);
    db[s].state[r] = RELEASED;
    may_be_killed();
    goto publish
  }
#endif

too_few:
  atomic {
    if
#ifdef NEVER_OLD
    :: true -> db[s].state[r] = OPEN; goto end_of_run
#else
    :: holds > 0 && db[s].state[r] == SEALED ->
      holds--; db[s].state[r] = OPEN;
      may_be_killed();
      goto end_of_run
    :: true
#endif
    fi
  }
dispose:
  atomic { /* B seals in the same transaction */
    if
    :: db[s].state[r] == SEALED || s == B && db[s].state[r] == OPEN
    :: else -> goto end_of_run
    fi;
    append_receipt(GONE);
    db[s].state[r] = DISPOSED;
    may_be_killed()
  }

publish:
#ifdef RECEIPT_ASKED_AGAIN
  if
  :: s == B && IS_FILE(db[B].receipt[r]) -> OFFERED(r) || OTHER_OFFERED(r)
  :: else
  fi;
#endif
  atomic {
    rows = db[s].receipt[r];
#ifndef WITNESS_LAST
    follow();
#endif
    may_be_killed()
  }
#ifdef KEYS_FIRST
  atomic { destroy(); may_be_killed() }
#endif
  atomic { /* the file gets its name */
    if
    :: !IS_FILE(rows) || HERE(s, r) && output[s].file[r] == rows
    :: IS_FILE(rows) && (output[s].file[r] == 0 || !HERE(s, r)) && HAS_DRAFT(s, rows) ->
      if :: draft[2 * s] == rows -> draft[2 * s] = 0 :: else -> draft[2 * s + 1] = 0 fi;
      CLAIM(one_version_published, past[s].file[r] == 0 || past[s].file[r] == rows);
      CLAIM(report_in_one_batch,
            LAST == 0 || (REPORTS(rows) & REPORTS(past[s].file[LAST - r])) == 0);
      past[s].file[r] = rows;
      output[s].file[r] = rows
    :: IS_FILE(rows) && !HERE(s, r) && output[s].file[r] == rows && !HAS_DRAFT(s, rows) ->
      output[s].elsewhere[0] = 0; output[s].elsewhere[LAST] = 0 /* LostFileError: name that place */
    /* else TakenError, or LostFileError and nobody has the file: no way on */
    fi;
    may_be_killed()
  }
  atomic { /* the receipt is put beside it */
    if
    :: output[s].receipt[r] == rows && HERE(s, r)
    :: output[s].receipt[r] == 0 || !HERE(s, r) ->
      CLAIM(one_version_published, past[s].receipt[r] == 0 || past[s].receipt[r] == rows);
      past[s].receipt[r] = rows;
      output[s].receipt[r] = rows;
      output[s].elsewhere[r] = 0
    fi;
    rows = 0;
    if :: s == A -> settle_promises() :: else fi;
    may_be_killed()
  }
#ifdef WITNESS_LAST
  atomic { follow(); may_be_killed() }
#endif

  atomic { /* remove_leftovers, drop_envelopes */
    draft[2 * s] = 0; draft[2 * s + 1] = 0;
    db[s].envelopes[r] = DROPPED;
    may_be_killed()
  }
  atomic { destroy(); may_be_killed() }
  atomic {
    if :: db[s].state[r] == RELEASED || db[s].state[r] == DISPOSED :: else -> goto end_of_run fi;
    db[s].state[r] = SHREDDED;
    goto end_of_run
  }

recover:
#ifdef WITHOUT_RECOVERY
  false;
#endif
  atomic { /* with all receipts that were published; restored, given up and signed at once */
    output[s].elsewhere[0] = 0; output[s].elsewhere[LAST] = 0;
    r = 0;
    do
    :: r < ROUNDS ->
      if
      :: output[s].receipt[r] != 0 -> db[s].receipt[r] = output[s].receipt[r]
      :: else
      fi;
      if
      :: db[s].receipt[r] == 0 && (r <= keys[s].round + 1 || db[s].state[r] != NONE) ->
        db[s].lost = db[s].lost | BIT(r)
      :: else
      fi;
      db[s].state[r] = SHREDDED;
      db[s].envelopes[r] = DROPPED;
      r++
    :: else -> break
    od;
    r = 0;
    db[s].recovered = 1;
    if :: s == A -> intake_refuses = 0 :: else fi;
    may_be_killed()
  }
  atomic { follow(); may_be_killed() }

finish_recovery:
  atomic { /* publish_recovery, which removes files without a name first */
    draft[2 * s] = 0; draft[2 * s + 1] = 0;
    output[s].recovered = 1;
    may_be_killed()
  }
  atomic { destroy(); may_be_killed() }
  atomic { r = LAST; destroy(); goto end_of_run }

killed:
#ifdef LOCK_KEPT
  atomic { forget(); goto idle }
#endif
end_of_run:
  atomic { locked[s] = 0; forget(); goto idle }
over:
  CLAIM(nothing_unnamed_is_left, draft[2 * s] == 0 && draft[2 * s + 1] == 0);
  /* False claims, each defined by name: the search must refute it, so it gets there. */
#ifdef NEVER_RELEASED
  CLAIM(reachable, corrupt || !IS_FILE(past[B].receipt[LAST]));
#endif
#ifdef NEVER_DISPOSED
  CLAIM(reachable, past[A].receipt[0] != GONE);
#endif
#ifdef NEVER_GIVEN_UP
  CLAIM(reachable, !db[A].lost || !IS_FILE(past[B].receipt[0]));
#endif
  skip
}

inline acknowledge() {
  acknowledged = acknowledged | BIT(i);
  CLAIM(acknowledged_is_released,
        (missing & BIT(i)) || !IS_FILE(db[A].receipt[r]) || (db[A].receipt[r] & BIT(i)))
}

/* A client and the worker that answers it. */
proctype client(bit i) {
  byte r;
  bit saw_open;

end_waits:
  atomic {
    if
    :: (to_send & BIT(i)) && !intake_refuses && db[A].state[0] == OPEN -> r = 0
    :: (to_send & BIT(i)) && !intake_refuses && ROUNDS > 1 && db[A].state[LAST] == OPEN -> r = LAST
    fi;
    to_send = to_send & ~BIT(i);
    sealed_for[i] = r
  }
send:
#ifdef WITHOUT_ISOLATION
  atomic { saw_open = (db[A].state[r] == OPEN && !intake_refuses) }
#endif
  atomic { /* accept */
    if
    :: intake_refuses -> goto over /* 503 until the client gives up */
    :: else
    fi;
#ifndef WITHOUT_ISOLATION
    saw_open = (db[A].state[r] == OPEN);
#endif
    if
    :: db[A].envelopes[r] == DROPPED -> goto over /* nobody can tell */
    :: db[A].envelopes[r] != DROPPED && saw_open ->
      saw_open = 0;
      missing = missing & ~BIT(i);
      if
      :: db[A].envelopes[r] & BIT(i) -> db[A].envelopes[r] = db[A].envelopes[r] | (BIT(i) << 2)
      :: else -> db[A].envelopes[r] = db[A].envelopes[r] | BIT(i)
      fi;
      if
      :: acknowledge(); goto over
      :: resends > 0 -> resends--; goto send /* no answer came: the same bytes */
      :: goto over
      :: ROUNDS > 1 && lies > 0 -> lies--; corrupt = 1; goto refused
      fi
    :: db[A].envelopes[r] != DROPPED && !saw_open ->
      if
      :: db[A].envelopes[r] & BIT(i) -> acknowledge(); goto over
      :: else -> goto refused
      fi
    fi
  }
refused:
#ifdef RESEAL
  atomic {
    if
    :: ROUNDS > 1 && r == 0 && db[A].state[LAST] == OPEN && !intake_refuses ->
      r = LAST; sealed_for[i] = r; goto send
    :: true
    fi
  }
#endif
over:
  atomic { r = 0; saw_open = 0; goto end_waits }
}

/* A database becomes what it was at some earlier moment, once; no job runs meanwhile, so stopping
   one takes a kill. Any reports of an open batch may be missing then (LIMITATIONS.md). Intake had
   seen what the database held, and where it knows of one round more the operator gives its witness
   to release, as docs/incidents/database-set-back.md says. */
proctype restore() {
  bit s;
  byte r;

end_waits:
  atomic {
    if
    :: restores > 0 && !locked[A] && !db[A].recovered && !ALL_AT_REST -> s = A
    :: restores > 0 && !locked[B] && !db[B].recovered && !ALL_AT_REST && SETTLED_BY_A(0) -> s = B
    fi;
    restores--;
    set_back[s] = 1;
    if :: db[s].state[LAST] != NONE -> keys[s].round = LAST; r = LAST :: else fi;
    do
    :: true -> break
    :: db[s].state[r] == SHREDDED ->
      db[s].state[r] = (db[s].receipt[r] == GONE -> DISPOSED : RELEASED)
    :: db[s].state[r] == RELEASED || db[s].state[r] == DISPOSED ->
      db[s].state[r] = SEALED;
      db[s].receipt[r] = 0;
      if :: db[s].envelopes[r] == DROPPED -> db[s].envelopes[r] = 0 :: else fi;
      if :: s == A -> intake_refuses = 1 :: else fi
    :: db[s].state[r] == SEALED -> db[s].state[r] = OPEN
    :: db[s].state[r] == OPEN && (db[s].envelopes[r] & 1) ->
      db[s].envelopes[r] = db[s].envelopes[r] & 10;
      missing = missing | 1
    :: db[s].state[r] == OPEN && (db[s].envelopes[r] & 2) ->
      db[s].envelopes[r] = db[s].envelopes[r] & 5;
      missing = missing | 2
    :: db[s].state[r] == OPEN && (db[s].envelopes[r] & 12) ->
      db[s].envelopes[r] = db[s].envelopes[r] & 3
    :: db[s].state[r] == OPEN && r > 0 && db[s].envelopes[r] == 0 ->
      db[s].state[r] = NONE;
      r = 0;
      if :: s == A -> intake_refuses = 1 :: else fi
    od;
    r = 0;
    if
    :: true
    :: output[s].file[0] != 0 || output[s].receipt[0] != 0 -> /* an empty directory is named */
      output[s].elsewhere[0] = 1; output[s].elsewhere[LAST] = 1
    fi;
    s = 0
  }
}

init {
  atomic {
    db[A].state[0] = OPEN; keys[A].key[0] = 1;
    db[B].state[0] = OPEN; keys[B].key[0] = 1;
    run release(A, 0); run release(B, 0);
#if JOBS > 1
    run release(A, 1); run release(B, 1);
#endif
    run client(0); run client(1);
    run restore()
  }
}
