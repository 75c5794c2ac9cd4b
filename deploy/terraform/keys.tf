# One key encrypts the database, the bucket and the secrets. None of them opens an envelope: the keys
# of release and intake are files on their hosts, and are never stored here.
data "aws_caller_identity" "shuffler" {}

data "aws_iam_policy_document" "key" {
  # checkov:skip=CKV_AWS_109: the policy of a key names the key itself as "*"
  # checkov:skip=CKV_AWS_111: as CKV_AWS_109
  # checkov:skip=CKV_AWS_356: as CKV_AWS_109
  statement {
    sid       = "Administer"
    actions   = ["kms:*"]
    resources = ["*"]

    principals {
      type        = "AWS"
      identifiers = ["arn:aws:iam::${data.aws_caller_identity.shuffler.account_id}:root"]
    }
  }

  statement {
    sid       = "AnalyzerReadsReleasedBatches"
    actions   = ["kms:Decrypt"]
    resources = ["*"]

    principals {
      type        = "AWS"
      identifiers = ["arn:aws:iam::${var.analyzer_account_id}:root"]
    }

    condition {
      test     = "StringEquals"
      variable = "kms:ViaService"
      values   = ["s3.${var.region}.amazonaws.com"]
    }
  }
}

resource "aws_kms_key" "croupier" {
  description         = "croupier: database, released batches, secrets"
  enable_key_rotation = true
  policy              = data.aws_iam_policy_document.key.json
}
