# Names of secrets whose contents the operator writes, so that none is in the state of Terraform:
# aws secretsmanager put-secret-value --secret-id croupier/intake-passphrase --secret-string file://…
locals {
  secrets = toset(["intake-passphrase", "release-passphrase", "credentials", "intake-database", "release-database"])
}

resource "aws_secretsmanager_secret" "croupier" {
  # checkov:skip=CKV2_AWS_57: a passphrase is changed together with the key files that it opens, by hand
  for_each = local.secrets

  name       = "${var.name}/${each.key}"
  kms_key_id = aws_kms_key.croupier.arn
}

locals {
  roles = {
    intake  = ["intake-passphrase", "intake-database", "credentials"]
    release = ["release-passphrase", "release-database"]
  }
}

data "aws_iam_policy_document" "role" {
  for_each = local.roles

  statement {
    sid       = "ReadOwnSecrets"
    actions   = ["secretsmanager:GetSecretValue"]
    resources = [for secret in each.value : aws_secretsmanager_secret.croupier[secret].arn]
  }

  statement {
    sid       = "UseKey"
    actions   = ["kms:Decrypt", "kms:GenerateDataKey"]
    resources = [aws_kms_key.croupier.arn]
  }

  # Release creates objects and reads its receipts; it can delete nothing.
  dynamic "statement" {
    for_each = each.key == "release" ? [true] : []

    content {
      sid       = "Release"
      actions   = ["s3:PutObject", "s3:GetObject", "s3:ListBucket"]
      resources = [aws_s3_bucket.released.arn, "${aws_s3_bucket.released.arn}/*"]
    }
  }
}

# Attach each to the role of its own hosts: what opens a batch's keys is not for intake.
resource "aws_iam_policy" "role" {
  for_each = local.roles

  name   = "${var.name}-${each.key}"
  policy = data.aws_iam_policy_document.role[each.key].json
}
