// SPDX-License-Identifier: Apache-2.0
import Cryptography
package import OfferDomain
package import Storage

/// The newest checkpoint of each log that this database has been, and what witnesses last signed.
package struct CheckpointTable {
    private let connection: any DatabaseConnection

    package init(connection: any DatabaseConnection) {
        self.connection = connection
    }

    /// A checkpoint as the table holds it; nothing of it is verified.
    package struct Stored: Hashable, Sendable {
        /// The log's name; the table has one row for each.
        package let origin: String
        /// How many entries the checkpoint covers.
        package let size: Int64
        /// The hash over these entries: 32 bytes.
        package let rootHash: [UInt8]
        /// The signed note with the log's own signature only.
        package let note: [UInt8]
        /// When this service signed it.
        package let signedAt: Timestamp
    }

    /// What came of a checkpoint that was to be kept.
    package enum Keeping: Hashable, Sendable {
        case kept
        /// There is a larger checkpoint, or a different one of that size; nothing was changed.
        case hasOther(Stored)
    }

    /// Replaces the log's earlier checkpoint, unless that is larger, or as large with another hash.
    package func keep(_ signed: SignedCheckpoint) throws(StorageError) -> Keeping {
        let changed = try connection.run(
            SQL(
                """
                INSERT INTO checkpoints (origin, size, root_hash, note, signed_at) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (origin) DO UPDATE SET
                    size = excluded.size, root_hash = excluded.root_hash, note = excluded.note,
                    signed_at = excluded.signed_at
                WHERE excluded.size > checkpoints.size
                    OR (excluded.size = checkpoints.size AND excluded.root_hash = checkpoints.root_hash)
                """,
                .text(signed.checkpoint.origin.text),
                .integer(signed.checkpoint.size),
                .blob(signed.checkpoint.rootHash.bytes),
                .blob(signed.ownNote.bytes),
                .integer(signed.signedAt.milliseconds)
            )
        )
        guard changed == 0, let other = try all().first(where: { $0.origin == signed.checkpoint.origin.text }) else {
            return .kept
        }
        return .hasOther(other)
    }

    /// The newest checkpoint of every log, in the order in which they were signed.
    package func all() throws(StorageError) -> [Stored] {
        try connection.all(
            SQL("SELECT origin, size, root_hash, note, signed_at FROM checkpoints ORDER BY signed_at, origin")
        ) { row in
            Stored(
                origin: row.text(0),
                size: row.integer(1),
                rootHash: row.blob(2),
                note: row.blob(3),
                signedAt: Timestamp(milliseconds: row.integer(4))
            )
        }
    }

    /// Keeps what a witness signed, unless it has signed a larger one.
    package func keep(_ cosignature: VerifiedSignature, of signed: SignedCheckpoint) throws(StorageError) {
        try connection.run(
            SQL(
                """
                INSERT INTO cosignatures (origin, witness, size, note, cosigned_at) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (origin, witness) DO UPDATE SET
                    size = excluded.size, note = excluded.note, cosigned_at = excluded.cosigned_at
                WHERE excluded.size >= cosignatures.size
                """,
                .text(signed.checkpoint.origin.text),
                .text(cosignature.key.description),
                .integer(signed.checkpoint.size),
                .blob(signed.ownNote.adding(cosignature.signature).bytes),
                .integer(cosignature.seconds ?? 0)
            )
        )
    }

    /// What a witness last signed: its verifier key, and the note with its signature.
    package struct StoredCosignature: Hashable, Sendable {
        /// The witness's verifier key as text, which also tells witnesses apart.
        package let witness: String
        /// How many entries of the log the witness has signed.
        package let size: Int64
        /// The signed note with the log's signature and the witness's.
        package let note: [UInt8]
        /// Seconds since 1970, as the witness says.
        package let seconds: Int64
    }

    /// What the witnesses of a log last signed.
    package func cosignatures(of origin: LogOrigin) throws(StorageError) -> [StoredCosignature] {
        try connection.all(
            SQL(
                "SELECT witness, size, note, cosigned_at FROM cosignatures WHERE origin = ? ORDER BY witness",
                .text(origin.text)
            )
        ) { row in
            StoredCosignature(
                witness: row.text(0),
                size: row.integer(1),
                note: row.blob(2),
                seconds: row.integer(3)
            )
        }
    }
}
